import type { AccountRecord } from "../../../api/accounts.ts";
import { api } from "../../../api/api.ts";
import type { AccountContent } from "../../../domain/account/account.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, pageOf, route } from "../route.ts";

const { accounts: calls } = api;

export function connectedAccountRoutes(engine: Engine): readonly Route[] {
  const { accounts } = engine;
  const recordOf = (account: AccountContent, isRevealed: boolean): AccountRecord => ({
    ...accountRecord(account, isRevealed),
    tested: accounts.lastVerdict(account.id),
  });
  return [
    route(calls.list, async ({ params }) =>
      pageOf(await accounts.list(params.app ?? params.query), params, {
        idOf: ({ id }) => id,
        records: (shown) => shown.map((account) => recordOf(account, params.include_credentials)),
      }),
    ),
    route(calls.get, async ({ params, part }) => ({ data: recordOf(await accounts.find(part("id")), params.include_credentials) })),
    route(calls.connect, async ({ params }) => ({ data: recordOf(await accounts.connect(params.app, params.credentials, params.name), false) })),
    route(calls.update, async ({ params: { name, credentials }, part }) => {
      const change = { ...(name === undefined ? {} : { name }), ...(credentials === undefined ? {} : { credentials }) };
      return { data: recordOf(await accounts.change(part("id"), change), false) };
    }),
    route(calls.delete, async ({ params, part }) => ({ data: { id: (await accounts.delete(part("id"), params.force)).id, deleted: true } })),
    route(calls.test, async ({ params: { url, headers }, part }) => {
      const { verdict, asked, reason } = await engine.accounts.test(part("id"), url === undefined ? undefined : { url, headers });
      return { data: { verdict, reason, asked } };
    }),
  ];
}

export function accountRecord({ id, name, app, credentials, oauth, problem, createdAt, updatedAt }: AccountContent, isRevealed: boolean): AccountRecord {
  return {
    id,
    name,
    healthy: problem === undefined,
    error: problem,
    app: { id: `app_${app}`, name_slug: app, name: app },
    fields: Object.keys(credentials),
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    expires_at: oauth?.expiresAt === undefined ? null : new Date(oauth.expiresAt).toISOString(),
    oauth: oauth === undefined ? null : { client_id: oauth.client.id, token_url: oauth.client.tokenUrl, redirect_uri: oauth.client.redirectUri ?? null },
    credentials: isRevealed ? credentials : undefined,
  };
}
