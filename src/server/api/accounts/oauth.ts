import type { OAuthParams, OAuthStepRecord } from "../../../api/accounts.ts";
import { api } from "../../../api/api.ts";
import { PdError } from "../../../domain/errors.ts";
import { catalogApp } from "../../../domain/account/app-catalog.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { OAuthStep } from "../../../engine/accounts/oauth-flows.ts";
import { type OAuthRequest, lentBy, requestAgain } from "../../../engine/accounts/oauth-request.ts";
import { accountRecord } from "./connected-accounts.ts";
import { type Route, route } from "../route.ts";

const { accounts } = api;

export function oauthRoutes(engine: Engine): readonly Route[] {
  return [
    route(accounts.startOAuth, async ({ params }) => ({ data: stepRecord(await engine.oauthFlows.start(await requestOf(engine, params))) })),
    route(accounts.resumeOAuth, async ({ params, part }) => ({ data: stepRecord(await engine.oauthFlows.resume(part("flow_id"), params.callback_url)) })),
  ];
}

async function requestOf(engine: Engine, params: OAuthParams): Promise<OAuthRequest> {
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
      throw new PdError("PD_BAD_INPUT", `Cannot connect "${known}" by OAuth again: its credentials were given`, { fix: `pd accounts update ${known}` });
    const again = requestAgain({ ...account, oauth }, await catalogApp(account.app));
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
    throw new PdError("PD_BAD_INPUT", "Cannot connect an account by OAuth: client_of sets the client and its addresses, and others are given too");
  const lent =
    lender === undefined || app === undefined ? undefined : lentBy(await engine.accounts.find(lender), { app, fields, known: await catalogApp(app) });
  const id = clientId ?? lent?.clientId;
  const secret = clientSecret ?? lent?.clientSecret;
  if (app === undefined || id === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot connect an account by OAuth: app and client_id are required", {
      fix: "Register a client at the provider, and use its id",
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

function stepRecord(step: OAuthStep): OAuthStepRecord {
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
