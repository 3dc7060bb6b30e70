import * as oauth from "oauth4webapi";
import type { GrantedTokens, OAuthClient, TokenAnswer } from "../../domain/account/oauth.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { withStars } from "../../domain/account/secrets.ts";
import type { Authorization, AuthorizationRequest, DeviceAuthorization, OAuthServer } from "../../ports/oauth-server.ts";
import { textOf } from "./answer-text.ts";
import { sendRequest } from "./http-client.ts";

const TIMEOUT_MS = 30_000;
/** Limit after decompression. */
const MOST_BYTES = 2 ** 16;

export const oauthServer: OAuthServer = {
  async authorize({ client, authorizeUrl, redirectUri, parameters }: AuthorizationRequest): Promise<Authorization> {
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(authorizeUrl);
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    const all = { response_type: "code", client_id: client.id, redirect_uri: redirectUri, state, code_challenge: challenge, code_challenge_method: "S256" };
    for (const [name, value] of Object.entries({ ...parameters, ...all })) url.searchParams.set(name, value);
    return {
      url: url.href,
      finish: (callback, signal) =>
        answered(async () => {
          const given = oauth.validateAuthResponse(serverOf(client), { client_id: client.id }, withoutIssuer(callback), state);
          return oauth.authorizationCodeGrantRequest(
            serverOf(client),
            { client_id: client.id },
            authOf(client),
            given,
            redirectUri,
            verifier,
            optionsFor(client, signal),
          );
        }),
    };
  },

  async authorizeDevice(client: OAuthClient, { deviceUrl, scope }: { deviceUrl: string; scope: string }, signal: AbortSignal): Promise<DeviceAuthorization> {
    const server = { ...serverOf(client), device_authorization_endpoint: deviceUrl };
    const parameters = new URLSearchParams(scope === "" ? {} : { scope });
    try {
      const response = await oauth.deviceAuthorizationRequest(server, { client_id: client.id }, authOf(client), parameters, optionsFor(client, signal));
      const started = await oauth.processDeviceAuthorizationResponse(server, { client_id: client.id }, response);
      return {
        userCode: started.user_code,
        verificationUrl: started.verification_uri_complete ?? started.verification_uri,
        intervalMs: (started.interval ?? 5) * 1000,
        expiresInMs: started.expires_in * 1000,
        poll: (polling) =>
          answered(() => oauth.deviceCodeGrantRequest(server, { client_id: client.id }, authOf(client), started.device_code, optionsFor(client, polling))),
      };
    } catch (error) {
      throw new PdError("PD_OAUTH_FAILED", `Cannot start a device flow at ${deviceUrl}: ${withStars(reasonOf(error), [client.secret ?? ""])}`, {
        cause: error,
      });
    }
  },

  clientCredentials: (client, scope, signal) =>
    answered(() => {
      const parameters = new URLSearchParams(scope === "" ? {} : { scope });
      return oauth.clientCredentialsGrantRequest(serverOf(client), { client_id: client.id }, authOf(client), parameters, optionsFor(client, signal));
    }),

  refresh: ({ refreshUrl, ...rest }, refreshToken, signal) => {
    const client = refreshUrl === undefined ? rest : { ...rest, tokenUrl: refreshUrl };
    return answered(() => oauth.refreshTokenGrantRequest(serverOf(client), { client_id: client.id }, authOf(client), refreshToken, optionsFor(client, signal)));
  },
};

function serverOf({ tokenUrl }: OAuthClient): oauth.AuthorizationServer {
  return { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
}

function authOf({ secret, hasBasicAuth }: OAuthClient): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  return hasBasicAuth === true ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
}

/** `iss` cannot be checked without server metadata. State and PKCE are. */
function withoutIssuer(callback: string): URLSearchParams {
  const { searchParams } = new URL(callback);
  searchParams.delete("iss");
  return searchParams;
}

function optionsFor({ tokenUrl, tokenMember }: OAuthClient, signal: AbortSignal) {
  const { protocol, hostname } = new URL(tokenUrl);
  const isLocal = protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return {
    [oauth.allowInsecureRequests]: isLocal,
    [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<string, URLSearchParams | undefined>) => send(url, init, { tokenMember, signal }),
  };
}

/** Converts to RFC 6749 §5.1. Some providers nest tokens, answer errors with status 200, or answer with a form. */
async function send(
  url: string,
  init: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
  { tokenMember, signal }: { tokenMember: string | undefined; signal: AbortSignal },
): Promise<Response> {
  const headers = { ...init.headers, accept: "application/json" };
  const body = init.body === undefined ? {} : { body: init.body.toString() };
  const answer = await sendRequest(url, { method: init.method, headers, timeoutMs: TIMEOUT_MS, signal, redirect: "manual", ...body });
  const text = await textOf(answer, MOST_BYTES);
  const parsed = parseJson(text);
  const given: JsonObject = isJsonObject(parsed) ? parsed : Object.fromEntries(new URLSearchParams(text));
  const nested = tokenMember === undefined ? undefined : given[tokenMember];
  const { id_token: idToken, ...whole } = isJsonObject(nested) && nested["access_token"] !== undefined ? nested : given;
  const isError = typeof whole["error"] === "string";
  const claims = typeof idToken === "string" ? parseJson(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) : undefined;
  const standard = isError ? whole : { ...(isJsonObject(claims) ? { sub: claims["sub"] ?? null } : {}), ...whole, token_type: "bearer" };
  const status = isError && answer.status < 400 ? 400 : answer.status;
  return new Response(JSON.stringify(standard), { status, headers: { "content-type": "application/json" } });
}

async function answered(request: () => Promise<Response>): Promise<TokenAnswer> {
  try {
    const response = await request();
    const answer = parseJson(await response.text());
    const said = isJsonObject(answer) ? answer : {};
    if (response.status >= 500 || response.status === 429) return { kind: "unreachable", reason: `it answered with status ${response.status}` };
    if (typeof said["access_token"] === "string") return { kind: "granted", tokens: tokensOf(said, said["access_token"]) };
    const code = [said["error"], said["status"]].find((value) => typeof value === "string")?.toLowerCase() ?? "invalid_response";
    return { kind: "refused", code, reason: String(said["error_description"] ?? `it answered ${code} with status ${response.status}`) };
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) return { kind: "refused", code: error.error, reason: error.error_description ?? error.error };
    if (error instanceof oauth.OperationProcessingError) return { kind: "refused", code: "invalid_response", reason: error.message };
    return { kind: "unreachable", reason: reasonOf(error) };
  }
}

/** Ten years, in seconds. Beyond some lifetime, the expiry is no valid date. */
const LONGEST_LIFE = 3650 * 86_400;

function tokensOf(said: JsonObject, accessToken: string): GrantedTokens {
  const { access_token: _token, refresh_token: refreshToken, expires_in: expiresIn, ...rest } = said;
  const seconds = Number(expiresIn);
  return {
    accessToken,
    rest,
    ...(typeof refreshToken === "string" && refreshToken !== "" ? { refreshToken } : {}),
    ...(expiresIn !== undefined && expiresIn !== null && Number.isFinite(seconds) && seconds > 0
      ? { expiresInMs: Math.min(seconds, LONGEST_LIFE) * 1000 }
      : {}),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) return error.error_description ?? error.error;
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}
