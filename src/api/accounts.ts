import * as z from "zod";
import { MOST_OF_ADDRESS } from "../domain/text/addresses.ts";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, jsonObject, ms, one, optionalText, pageParams, paged, text } from "./declare.ts";

const verdict = z.enum(["accepted", "refused", "unclear", "unknown"]);
const account = z.object({
  id: text,
  name: text,
  healthy: z.boolean(),
  tested: verdict.optional().describe("result of its last test; omitted when the server has not tested these credentials since its start"),
  error: text.optional().describe("why the provider no longer accepts it"),
  app: z.object({ id: text, name_slug: text, name: text }),
  fields: z.array(text),
  created_at: text,
  updated_at: text,
  expires_at: text.nullable(),
  oauth: z
    .object({ client_id: text, token_url: text, redirect_uri: text.nullable() })
    .nullable()
    .describe("OAuth client that it was connected with; null when it was connected with credentials"),
  credentials: jsonObject.optional().describe("only with include_credentials"),
});
export type AccountRecord = z.infer<typeof account>;

const oauthStep = z.object({
  status: z.enum(["visit", "enter-code", "pending", "connected"]),
  flow_id: optionalText,
  url: text.optional().describe("URL that the user must open"),
  user_code: optionalText,
  interval_ms: ms.optional(),
  expires_in_ms: ms.optional(),
  account: account.optional(),
});
export type OAuthStepRecord = z.infer<typeof oauthStep>;

const accountTest = z.object({ verdict, asked: optionalText, reason: text });

const name = z.string().min(1);
const include_credentials = flag.default(false);
const oauthParams = z.object({
  app: name.optional(),
  /** Reconnects this account. */
  account: name.optional(),
  name: name.optional(),
  flow: z.enum(["authorization_code", "device_code", "client_credentials"]).default("authorization_code"),
  client_id: name.optional(),
  client_of: name.optional(),
  client_secret: name.optional(),
  scopes: z.array(name).optional(),
  redirect_uri: name.optional(),
  authorize_url: name.optional(),
  token_url: name.optional(),
  device_url: name.optional(),
  fields: jsonObject.default({}),
});
export type OAuthParams = z.output<typeof oauthParams>;
export type OAuthInput = z.input<typeof oauthParams>;

const tag = "Accounts";
const answer = one(account);

export const accounts = {
  list: call(CALLS.accounts.list, {
    tag,
    summary: "Lists connected accounts, of one app or all",
    params: pageParams.extend({ app: optionalText, query: text.optional().describe("same as app, for the workspaces address"), include_credentials }),
    beyondReaders: ["include_credentials"],
    answer: paged(account),
    also: ["GET /v1/workspaces/{org_id}/accounts"],
  }),
  get: call(CALLS.accounts.get, {
    tag,
    summary: "Shows a connected account, by id or name",
    params: z.object({ include_credentials }),
    beyondReaders: ["include_credentials"],
    answer,
  }),
  connect: call(CALLS.accounts.connect, {
    tag,
    summary: "Connects an account by storing credentials for an app",
    params: z.object({ app: name, name: name.optional(), credentials: jsonObject }),
    answer,
  }),
  update: call(CALLS.accounts.update, {
    tag,
    summary: "Renames an account or changes its fields (null removes one); sources that use it read them at their next call",
    params: z.object({ name: name.optional(), credentials: jsonObject.optional() }),
    answer,
  }),
  delete: call(CALLS.accounts.delete, {
    tag,
    summary: "Deletes an account; with force even if a source uses it",
    params: z.object({ force: flag.default(false) }),
    answer: one(deleted),
  }),
  test: call(CALLS.accounts.test, {
    tag,
    summary: "Checks whether the app accepts the account; url and headers replace the default request, and {field} in them is replaced by a field",
    params: z.object({ url: name.optional(), headers: z.record(z.string(), z.string()).default({}) }),
    answer: one(accountTest),
  }),
  startOAuth: call(CALLS.accounts.startOAuth, {
    tag,
    summary: "Starts an OAuth connection: returns the URL that the user must open, or connects directly if no user is needed",
    params: oauthParams,
    answer: one(oauthStep),
  }),
  resumeOAuth: call(CALLS.accounts.resumeOAuth, {
    tag,
    summary: "Continues an OAuth connection: callback_url is the URL that the provider redirected the user to; a device flow is polled",
    params: z.object({ callback_url: z.string().max(MOST_OF_ADDRESS).pipe(z.url()).optional() }),
    answer: one(oauthStep),
  }),
};
