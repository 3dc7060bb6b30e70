import { parsedAddress } from "./addresses.ts";
import { type JsonObject, isRecord } from "./json.ts";

/** How an app grants access (RFC 6749), as data: what differs between providers. `{field}` in an address stands for a field of the account. */
export interface OAuthProvider {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Where tokens are renewed, if not there. */
  readonly refreshUrl?: string;
  /** Absent: the provider has no device flow (RFC 8628). */
  readonly deviceUrl?: string;
  readonly scopes: readonly string[];
  /** Between scopes; a space unless said otherwise. */
  readonly scopeSeparator?: string;
  /** Name of the parameter of the scopes that speak for the user, where it is another than `scope`. */
  readonly scopeParameter?: string;
  /** What else the provider wants to be asked with. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /** The client's secret travels in the header rather than in the body. */
  readonly hasBasicAuth?: boolean;
  /** Member of the token response that holds the user's own tokens. */
  readonly tokenMember?: string;
  /** Redirect addresses on the person's own machine are refused. */
  readonly wantsHttps?: boolean;
  /** Of tokens whose end the provider does not tell. */
  readonly lifetimeMs?: number;
  /** Fields of the account that come with the tokens, and those that come with the person: field → its name there. */
  readonly tokenFields?: Readonly<Record<string, string>>;
  readonly callbackFields?: Readonly<Record<string, string>>;
}

/** The user's own client at a provider. */
export interface OAuthClient {
  readonly id: string;
  /** Absent: a public client. */
  readonly secret?: string;
  readonly tokenUrl: string;
  /** Where it is connected once more. */
  readonly authorizeUrl?: string;
  readonly deviceUrl?: string;
  readonly refreshUrl?: string;
  /** That people were sent back to. */
  readonly redirectUri?: string;
  readonly hasBasicAuth?: boolean;
  readonly tokenMember?: string;
  readonly lifetimeMs?: number;
}

export type OAuthFlow = "authorization_code" | "device_code" | "client_credentials";

/** What an account needs to get new tokens by itself. */
export interface OAuthGrant {
  readonly flow: OAuthFlow;
  readonly client: OAuthClient;
  readonly scope: string;
  readonly refreshToken?: string;
  /** Epoch ms at which the access token was given, and at which it ends; absent: it does not. */
  readonly grantedAt: number;
  readonly expiresAt?: number;
}

/** Whether what was kept is a grant: the form changes with versions. */
export function isOAuthGrant(value: unknown): value is OAuthGrant {
  return (
    isRecord(value) &&
    typeof value["flow"] === "string" &&
    typeof value["grantedAt"] === "number" &&
    isRecord(value["client"]) &&
    typeof value["client"]["tokenUrl"] === "string"
  );
}

/** Fields of an account that OAuth alone brings; who the user is may be given by hand as well. */
export const TOKEN_FIELDS: readonly string[] = ["oauth_access_token", "oauth_refresh_token", "oauth_client_id"];

/** Whether new tokens can be had without a person. */
export function canRenew(grant: OAuthGrant | undefined): boolean {
  return grant?.flow === "client_credentials" || grant?.refreshToken !== undefined;
}

/** Credentials travel encrypted, but on this machine; and never in the address itself, which is told to people. */
export function travelsSafely(url: string): boolean {
  const parsed = parsedAddress(url);
  if (parsed?.username !== "" || parsed.password !== "") return false;
  return parsed.protocol === "https:" || (parsed.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname));
}

/** What a token endpoint grants. */
export interface GrantedTokens {
  readonly accessToken: string;
  /** Absent: the one before goes on. */
  readonly refreshToken?: string;
  readonly expiresInMs?: number;
  /** Everything else that it told, such as who the user is. */
  readonly rest: JsonObject;
}

/** What came of a request to a token endpoint. */
export type TokenAnswer =
  | { readonly kind: "granted"; readonly tokens: GrantedTokens }
  /** `code`: of RFC 6749 §5.2, such as `invalid_grant`. */
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

const LONGEST_MARGIN_MS = 5 * 60_000;

/** A clock that goes back by less was only put right. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Whether a token is to be renewed: well before it ends, however short it lives. Ends are counted by this machine's
 * clock alone, so that a provider's may differ; when ours was set back, nobody knows how much is left.
 */
export function isDue(grant: OAuthGrant, now: number): boolean {
  const at = dueAt(grant);
  return at !== undefined && (now < grant.grantedAt - CLOCK_SLACK_MS || now >= at);
}

/** `undefined`: its token does not end. */
export function dueAt({ grantedAt, expiresAt }: OAuthGrant): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - Math.min(LONGEST_MARGIN_MS, (expiresAt - grantedAt) / 4);
}

/** The RFC's own codes, and those of providers that have others. */
const REVOKED = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "access_denied",
  "bad_refresh_token",
  "invalid_refresh_token",
  "token_revoked",
  "incorrect_client_credentials",
]);

/** Whether what is refused now will be refused for ever: the grant was revoked, or the client is not taken any more. */
export function isRevoked(code: string): boolean {
  return REVOKED.has(code);
}

/** The grant with new tokens. `askedAt`: their life has begun by the time of the answer, however long that was on its way. */
export function grantAfter(grant: OAuthGrant, { refreshToken, expiresInMs }: GrantedTokens, askedAt: number): OAuthGrant {
  const { expiresAt: before, ...rest } = grant;
  const lifetimeMs = expiresInMs ?? grant.client.lifetimeMs ?? (before === undefined ? undefined : before - grant.grantedAt);
  return {
    ...rest,
    grantedAt: askedAt,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(lifetimeMs === undefined ? {} : { expiresAt: askedAt + lifetimeMs }),
  };
}

/** `$auth` of an OAuth account: `oauth_access_token` and its like beside what else was given (platform.md §1.7). */
export function oauthCredentials(given: JsonObject, { client, refreshToken }: OAuthGrant, tokens: GrantedTokens): JsonObject {
  const uid = uidOf(tokens.rest);
  return {
    ...given,
    oauth_access_token: tokens.accessToken,
    oauth_client_id: client.id,
    ...(refreshToken === undefined ? {} : { oauth_refresh_token: refreshToken }),
    ...(uid === undefined ? {} : { oauth_uid: uid }),
  };
}

/** Providers name the user differently; an id token names it as `sub`. */
function uidOf(rest: JsonObject): string | undefined {
  const found = [rest["user_id"], rest["uid"], rest["account_id"], rest["id"], rest["sub"]].find(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return found === undefined ? undefined : String(found);
}
