import { z } from "zod";
import type { AccountContent } from "../../domain/account.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { flag, jsonObject } from "./params.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const text = z.string().min(1);
const include_credentials = flag.default(false);

/** Connected accounts (platform.md §1.7): credentials are shown only when they are asked for. */
export function connectedAccountRoutes(engine: Engine, checkWorkspace: (id: string) => void): readonly Route[] {
  const tag = "Accounts";
  const { accounts } = engine;
  const page = schemas.paged(schemas.account);
  const one = schemas.one(schemas.account);
  return [
    route({
      method: "get",
      path: "/v1/workspaces/{org_id}/accounts",
      tag,
      summary: "Connected accounts, of one app or all",
      params: pageParams.extend({ query: z.string().optional() }),
      answer: page,
      async run({ params, part }) {
        checkWorkspace(part("org_id"));
        return pageOf(await accounts.list(params.query), params, listed(false));
      },
    }),
    route({
      method: "get",
      path: "/v1/accounts",
      tag,
      summary: "Connected accounts, of one app or all",
      params: pageParams.extend({ app: z.string().optional(), include_credentials }),
      answer: page,
      run: async ({ params }) => pageOf(await accounts.list(params.app), params, listed(params.include_credentials)),
    }),
    route({
      method: "get",
      path: "/v1/accounts/{id}",
      tag,
      summary: "A connected account, by id or name",
      params: z.object({ include_credentials }),
      answer: one,
      run: async ({ params, part }) => ({ data: accountRecord(await accounts.find(part("id")), params.include_credentials) }),
    }),
    route({
      method: "post",
      path: "/v1/accounts",
      tag,
      summary: "Connects an account: keeps credentials for an app",
      params: z.object({ app: text, name: text.optional(), credentials: jsonObject }),
      answer: one,
      run: async ({ params }) => ({ data: accountRecord(await accounts.connect(params.app, params.credentials, params.name), false) }),
    }),
    route({
      method: "put",
      path: "/v1/accounts/{id}",
      tag,
      summary: "Renames an account, or gives fields another value (null takes one away); those who use it get them with their next call",
      params: z.object({ name: text.optional(), credentials: jsonObject.optional() }),
      answer: one,
      async run({ params: { name, credentials }, part }) {
        const change = { ...(name === undefined ? {} : { name }), ...(credentials === undefined ? {} : { credentials }) };
        return { data: accountRecord(await accounts.change(part("id"), change), false) };
      },
    }),
    route({
      method: "delete",
      path: "/v1/accounts/{id}",
      tag,
      summary: "Deletes an account; with force also one that a source uses",
      params: z.object({ force: flag.default(false) }),
      answer: schemas.one(schemas.deleted),
      run: async ({ params, part }) => ({ data: { id: (await accounts.delete(part("id"), params.force)).id, deleted: true } }),
    }),
    route({
      method: "post",
      path: "/v1/accounts/{id}/test",
      tag,
      summary: "Asks the app whether it takes the account; url and headers, in which {field} stands for a field, ask elsewhere than is usual",
      params: z.object({ url: text.optional(), headers: z.record(z.string(), z.string()).default({}) }),
      answer: schemas.one(schemas.accountTest),
      async run({ params: { url, headers }, part }) {
        const { verdict, asked, reason } = await engine.testAccount(part("id"), url === undefined ? undefined : { url, headers });
        return { data: { verdict, reason, ...(asked === undefined ? {} : { asked }) } };
      },
    }),
  ];
}

function listed(isRevealed: boolean) {
  return { idOf: ({ id }: AccountContent) => id, records: (shown: readonly AccountContent[]) => shown.map((account) => accountRecord(account, isRevealed)) };
}

export function accountRecord({ id, name, app, credentials, oauth, problem, createdAt, updatedAt }: AccountContent, isRevealed: boolean): JsonObject {
  return {
    id,
    name,
    healthy: problem === undefined,
    ...(problem === undefined ? {} : { error: problem }),
    app: { id: `app_${app}`, name_slug: app, name: app },
    fields: Object.keys(credentials),
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    expires_at: oauth?.expiresAt === undefined ? null : new Date(oauth.expiresAt).toISOString(),
    oauth: oauth === undefined ? null : { client_id: oauth.client.id, token_url: oauth.client.tokenUrl, redirect_uri: oauth.client.redirectUri ?? null },
    ...(isRevealed ? { credentials } : {}),
  };
}
