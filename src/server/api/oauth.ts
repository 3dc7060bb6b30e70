import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { OAuthStep } from "../../engine/oauth-flows.ts";
import { type OAuthRequest, lentBy, requestAgain } from "../../engine/oauth-request.ts";
import { accountRecord } from "./connected-accounts.ts";
import { jsonObject } from "./params.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const text = z.string().min(1);
const startParams = z.object({
  app: text.optional(),
  /** Connected once more, with the client that it has. */
  account: text.optional(),
  name: text.optional(),
  flow: z.enum(["authorization_code", "device_code", "client_credentials"]).default("authorization_code"),
  client_id: text.optional(),
  /** Id or name of an account whose client is used. */
  client_of: text.optional(),
  client_secret: text.optional(),
  scopes: z.array(text).optional(),
  redirect_uri: text.optional(),
  authorize_url: text.optional(),
  token_url: text.optional(),
  device_url: text.optional(),
  fields: jsonObject.default({}),
});

/** Accounts that are connected by OAuth 2, with the user's own client. */
export function oauthRoutes(engine: Engine): readonly Route[] {
  const answer = schemas.one(schemas.oauthStep);
  return [
    route({
      method: "post",
      path: "/v1/accounts/oauth",
      tag: "Accounts",
      summary: "Begins to connect an account by OAuth: tells where the person goes, or connects it when nobody has to",
      params: startParams,
      answer,
      run: async ({ params }) => ({ data: stepRecord(await engine.oauthFlows.start(await requestOf(engine, params))) }),
    }),
    route({
      method: "post",
      path: "/v1/accounts/oauth/{flow_id}",
      tag: "Accounts",
      summary: "Goes on with a connection: callback_url is where the provider has sent the person; a device flow is asked whether it is done",
      params: z.object({ callback_url: z.url().optional() }),
      answer,
      run: async ({ params, part }) => ({ data: stepRecord(await engine.oauthFlows.resume(part("flow_id"), params.callback_url)) }),
    }),
  ];
}

async function requestOf(engine: Engine, params: z.infer<typeof startParams>): Promise<OAuthRequest> {
  const { app, account: known, name, flow, client_id: clientId, client_secret: clientSecret, scopes, fields } = params;
  const redirect = params.redirect_uri === undefined ? {} : { redirectUri: params.redirect_uri };
  const addresses = {
    ...(params.authorize_url === undefined ? {} : { authorizeUrl: params.authorize_url }),
    ...(params.token_url === undefined ? {} : { tokenUrl: params.token_url }),
    ...(params.device_url === undefined ? {} : { deviceUrl: params.device_url }),
  };
  if (known !== undefined) {
    const account = await engine.accounts.find(known);
    const { oauth } = account;
    if (oauth === undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot connect "${known}" by OAuth once more: its credentials were given`, { fix: `pd accounts update ${known}` });
    const again = requestAgain({ ...account, oauth });
    return {
      ...again,
      addresses: { ...again.addresses, ...addresses },
      ...redirect,
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(scopes === undefined ? {} : { scopes }),
    };
  }
  const { client_of: lender } = params;
  const isAnother = clientId !== undefined || clientSecret !== undefined || Object.keys(addresses).length > 0;
  if (lender !== undefined && isAnother)
    throw new PdError("PD_BAD_INPUT", "Cannot connect an account by OAuth: client_of brings the client and its addresses, and others are given");
  const lent = lender === undefined || app === undefined ? undefined : lentBy(await engine.accounts.find(lender), { app, fields });
  const id = clientId ?? lent?.clientId;
  const secret = clientSecret ?? lent?.clientSecret;
  if (app === undefined || id === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot connect an account by OAuth: app and client_id are wanted", {
      fix: "Register a client at the provider, and give its id",
    });
  return {
    app,
    flow,
    clientId: id,
    addresses: { ...lent?.addresses, ...addresses },
    fields: lent?.fields ?? fields,
    ...redirect,
    ...(name === undefined ? {} : { name }),
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

function stepRecord(step: OAuthStep): JsonObject {
  switch (step.kind) {
    case "visit":
      return { status: step.kind, flow_id: step.flowId, url: step.url };
    case "enter-code":
      return {
        status: step.kind,
        flow_id: step.flowId,
        url: step.url,
        user_code: step.userCode,
        interval_ms: step.intervalMs,
        expires_in_ms: step.expiresInMs,
      };
    case "pending":
      return { status: step.kind, interval_ms: step.intervalMs };
    case "connected":
      return { status: step.kind, account: accountRecord(step.account, false) };
  }
}
