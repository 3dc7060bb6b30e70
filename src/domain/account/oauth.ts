import { parsedAddress } from "../text/addresses.ts";
import { type JsonObject, isRecord } from "../text/json.ts";

/** RFC 6749. Fields of the account replace `{field}` in URLs. */
export interface OAuthProvider {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Defaults to `tokenUrl`. */
  readonly refreshUrl?: string;
  /** Omitted when the provider has no device flow (RFC 8628). */
  readonly deviceUrl?: string;
  readonly scopes: readonly string[];
  /** Defaults to a space. */
  readonly scopeSeparator?: string;
  /** Parameter for the user token's scopes, when not `scope`. */
  readonly scopeParameter?: string;
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /** Sends the client's secret in the header instead of the body. */
  readonly hasBasicAuth?: boolean;
  /** Member of the token response that holds the user's tokens. */
  readonly tokenMember?: string;
  /** The provider rejects redirects to the user's own machine. */
  readonly wantsHttps?: boolean;
  /** Used when the provider does not report a lifetime. */
  readonly lifetimeMs?: number;
  /** Account field → its name in the token response or the redirect. */
  readonly tokenFields?: Readonly<Record<string, string>>;
  readonly callbackFields?: Readonly<Record<string, string>>;
}

export interface OAuthClient {
  readonly id: string;
  /** Omitted for a public client. */
  readonly secret?: string;
  readonly tokenUrl: string;
  /** Used to reconnect. */
  readonly authorizeUrl?: string;
  readonly deviceUrl?: string;
  readonly refreshUrl?: string;
  readonly redirectUri?: string;
  readonly hasBasicAuth?: boolean;
  readonly tokenMember?: string;
  readonly lifetimeMs?: number;
}

export type OAuthFlow = "authorization_code" | "device_code" | "client_credentials";

export interface OAuthGrant {
  readonly flow: OAuthFlow;
  readonly client: OAuthClient;
  readonly scope: string;
  readonly refreshToken?: string;
  /** Epoch ms. A token without `expiresAt` does not expire. */
  readonly grantedAt: number;
  readonly expiresAt?: number;
}

/** A stored value may come from another version. */
export function isOAuthGrant(value: unknown): value is OAuthGrant {
  return (
    isRecord(value) &&
    typeof value["flow"] === "string" &&
    typeof value["grantedAt"] === "number" &&
    isRecord(value["client"]) &&
    typeof value["client"]["tokenUrl"] === "string"
  );
}

/** Only OAuth provides these. The user may enter `oauth_uid` by hand. */
export const TOKEN_FIELDS: readonly string[] = ["oauth_access_token", "oauth_refresh_token", "oauth_client_id"];

export function canRenew(grant: OAuthGrant | undefined): boolean {
  return grant?.flow === "client_credentials" || grant?.refreshToken !== undefined;
}

/** Rejects unencrypted requests to other machines, and credentials in URLs, because URLs are shown. */
export function travelsSafely(url: string): boolean {
  const parsed = parsedAddress(url);
  if (parsed?.username !== "" || parsed.password !== "") return false;
  return parsed.protocol === "https:" || (parsed.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname));
}

export interface GrantedTokens {
  readonly accessToken: string;
  /** Omitted when the previous one stays valid. */
  readonly refreshToken?: string;
  readonly expiresInMs?: number;
  readonly rest: JsonObject;
}

export type TokenAnswer =
  | { readonly kind: "granted"; readonly tokens: GrantedTokens }
  /** `code` is from RFC 6749 §5.2, such as `invalid_grant`. */
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

const LONGEST_MARGIN_MS = 5 * 60_000;

/** A smaller step back is a clock correction. */
const CLOCK_SLACK_MS = 60_000;

/** Also true when this machine's clock was set back, because the remaining lifetime is then unknown. */
export function isDue(grant: OAuthGrant, now: number): boolean {
  const at = dueAt(grant);
  return at !== undefined && (now < grant.grantedAt - CLOCK_SLACK_MS || now >= at);
}

export function dueAt({ grantedAt, expiresAt }: OAuthGrant): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - Math.min(LONGEST_MARGIN_MS, (expiresAt - grantedAt) / 4);
}

/** Includes codes of providers that do not follow the RFC. */
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

export function isRevoked(code: string): boolean {
  return REVOKED.has(code);
}

/** `askedAt` is the time of the request, when the lifetime may have started. */
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

/** Providers use different names. An id token uses `sub`. */
function uidOf(rest: JsonObject): string | undefined {
  const found = [rest["user_id"], rest["uid"], rest["account_id"], rest["id"], rest["sub"]].find(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return found === undefined ? undefined : String(found);
}
