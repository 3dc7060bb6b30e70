import { PdError } from "../../domain/errors.ts";
import type { AccountRecord, OAuthInput } from "../../api/accounts.ts";
import { type AccountFlags, fieldsOfFlags, lookAt } from "./account-flags.ts";
import { canAsk } from "../ask/can-ask.ts";
import { askPlain, askRedirectUri } from "./ask-fields.ts";
import { type CliContext, connect } from "../context.ts";
import { redirectPort } from "./oauth-callback.ts";
import { connectByOAuth } from "./oauth-connect.ts";
import { readValue } from "../code/prop-flags.ts";

const OAUTH_FLAGS = ["clientId", "clientSecret", "flow", "scope", "authorizeUrl", "tokenUrl", "deviceUrl", "redirectPort", "redirectUri"] as const;

export function isOAuth(flags: AccountFlags): boolean {
  return OAUTH_FLAGS.some((name) => flags[name] !== undefined);
}

export async function connectWithClient(cli: CliContext, app: string, flags: AccountFlags): Promise<AccountRecord> {
  const clientId = flags.clientId ?? (canAsk(cli, flags) ? await askPlain(cli, "Client id", undefined) : undefined);
  if (clientId === undefined) throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: no client is given`, { fix: "--client-id <id>" });
  const request = await oauthRequest(cli, app, { ...flags, clientId });
  const { redirectUri, redirectPort: port, authorizeUrl, tokenUrl } = flags;
  const isOwn = [redirectUri, port, authorizeUrl, tokenUrl].some((given) => given !== undefined);
  if (isOwn || request.flow !== FLOWS.get("code") || !(await lookAt(cli, await connect(cli), app)).wantsHttps) return connectOAuth(cli, request, flags);
  if (!canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} without a terminal: it refuses redirect addresses on this machine`, {
      fix: "Run it in a terminal, with --redirect-uri https://…",
    });
  return connectOAuth(cli, request, { ...flags, redirectUri: await askRedirectUri(cli, undefined) });
}

const FLOWS: ReadonlyMap<string, NonNullable<OAuthInput["flow"]>> = new Map([
  ["code", "authorization_code"],
  ["device", "device_code"],
  ["client", "client_credentials"],
]);

/** Other users can see command lines, so the secret may come from a file or PD_OAUTH_CLIENT_SECRET. */
async function clientParams(
  { environment }: CliContext,
  { clientId, clientSecret = environment["PD_OAUTH_CLIENT_SECRET"], scope }: AccountFlags,
): Promise<Pick<OAuthInput, "client_id" | "client_secret" | "scopes">> {
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(clientSecret === undefined ? {} : { client_secret: await readValue("--client-secret", clientSecret) }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
  };
}

async function oauthRequest(cli: CliContext, app: string, flags: AccountFlags): Promise<OAuthInput> {
  const { name, field = [], flow = "code", authorizeUrl, tokenUrl, deviceUrl } = flags;
  const named = FLOWS.get(flow);
  if (named === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --flow ${JSON.stringify(flow)}: expected code, device or client`, { fix: "--flow code" });
  return {
    app,
    flow: named,
    fields: await fieldsOfFlags(field),
    ...(await clientParams(cli, flags)),
    ...(name === undefined ? {} : { name }),
    ...(authorizeUrl === undefined ? {} : { authorize_url: authorizeUrl }),
    ...(tokenUrl === undefined ? {} : { token_url: tokenUrl }),
    ...(deviceUrl === undefined ? {} : { device_url: deviceUrl }),
  };
}

async function connectOAuth(cli: CliContext, request: OAuthInput, flags: AccountFlags): Promise<AccountRecord> {
  const { redirectUri } = flags;
  if (redirectUri !== undefined && !canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", "Cannot use --redirect-uri without a terminal: it asks for the address that you were sent to", {
      fix: "Run it in a terminal",
    });
  const client = await connect(cli);
  return connectByOAuth(cli, client, { request, redirect: redirectUri ?? redirectPort(cli, flags.redirectPort) });
}

/** Flags override the previous redirect address. */
export async function reconnect(cli: CliContext, account: string, flags: AccountFlags): Promise<AccountRecord> {
  const client = await connect(cli);
  const { oauth } = await client.accounts.get(account);
  const before = oauth?.redirect_uri ?? "";
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d+)\/callback$/.exec(before) ?? [];
  const isGiven = flags.redirectUri !== undefined || flags.redirectPort !== undefined;
  const redirect = isGiven || before === "" ? {} : port === undefined ? { redirectUri: before } : { redirectPort: port };
  if ("redirectUri" in redirect && !canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", `Cannot reconnect ${account} without a terminal: it was connected with the redirect address ${before}`, {
      fix: "Run it in a terminal",
    });
  return connectOAuth(cli, { account, ...(await clientParams(cli, flags)) }, { ...flags, ...redirect });
}
