import * as z from "zod";
import { MOST_OF_ADDRESS } from "../domain/addresses.ts";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, jsonObject, ms, one, optionalText, pageParams, paged, text } from "./declare.ts";

const account = z.object({
  id: text,
  name: text,
  healthy: z.boolean(),
  error: text.optional().describe("why the provider does not take it any more"),
  app: z.object({ id: text, name_slug: text, name: text }),
  fields: z.array(text),
  created_at: text,
  updated_at: text,
  expires_at: text.nullable(),
  oauth: z
    .object({ client_id: text, token_url: text, redirect_uri: text.nullable() })
    .nullable()
    .describe("the client that it was connected with; null: it was given its credentials"),
  credentials: jsonObject.optional().describe("only with include_credentials"),
});
export type AccountRecord = z.infer<typeof account>;

const oauthStep = z.object({
  status: z.enum(["visit", "enter-code", "pending", "connected"]),
  flow_id: optionalText,
  url: text.optional().describe("where the person goes"),
  user_code: optionalText,
  interval_ms: ms.optional(),
  expires_in_ms: ms.optional(),
  account: account.optional(),
});
export type OAuthStepRecord = z.infer<typeof oauthStep>;

const accountTest = z.object({ verdict: z.enum(["accepted", "refused", "unclear", "unknown"]), asked: optionalText, reason: text });

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
    summary: "Connected accounts, of one app or all",
    params: pageParams.extend({ app: optionalText, query: text.optional().describe("an app, as the other address takes it"), include_credentials }),
    beyondReaders: ["include_credentials"],
    answer: paged(account),
    also: ["GET /v1/workspaces/{org_id}/accounts"],
  }),
  get: call(CALLS.accounts.get, {
    tag,
    summary: "A connected account, by id or name",
    params: z.object({ include_credentials }),
    beyondReaders: ["include_credentials"],
    answer,
  }),
  connect: call(CALLS.accounts.connect, {
    tag,
    summary: "Connects an account: keeps credentials for an app",
    params: z.object({ app: name, name: name.optional(), credentials: jsonObject }),
    answer,
  }),
  update: call(CALLS.accounts.update, {
    tag,
    summary: "Renames an account, or gives fields another value (null takes one away); those who use it get them with their next call",
    params: z.object({ name: name.optional(), credentials: jsonObject.optional() }),
    answer,
  }),
  delete: call(CALLS.accounts.delete, {
    tag,
    summary: "Deletes an account; with force also one that a source uses",
    params: z.object({ force: flag.default(false) }),
    answer: one(deleted),
  }),
  test: call(CALLS.accounts.test, {
    tag,
    summary: "Asks the app whether it takes the account; url and headers, in which {field} stands for a field, ask elsewhere than is usual",
    params: z.object({ url: name.optional(), headers: z.record(z.string(), z.string()).default({}) }),
    answer: one(accountTest),
  }),
  startOAuth: call(CALLS.accounts.startOAuth, {
    tag,
    summary: "Begins to connect an account by OAuth: tells where the person goes, or connects it when nobody has to",
    params: oauthParams,
    answer: one(oauthStep),
  }),
  resumeOAuth: call(CALLS.accounts.resumeOAuth, {
    tag,
    summary: "Goes on with a connection: callback_url is where the provider has sent the person; a device flow is asked whether it is done",
    params: z.object({ callback_url: z.string().max(MOST_OF_ADDRESS).pipe(z.url()).optional() }),
    answer: one(oauthStep),
  }),
};
