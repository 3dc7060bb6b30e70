import { type JsonObject, isRecord } from "./json.ts";

/** How an app grants access (RFC 6749), as data: what differs between providers. */
export interface OAuthProvider {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
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
  readonly hasBasicAuth?: true;
  /** Member of the token response that holds the user's own tokens. */
  readonly tokenMember?: string;
  /** Of tokens whose end the provider does not tell. */
  readonly lifetimeMs?: number;
}

/** Fields of `{…}` in its addresses, such as the shop of Shopify, are given with the account. */
const GOOGLE = {
  authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  deviceUrl: "https://oauth2.googleapis.com/device/code",
  authorizeParameters: { access_type: "offline", prompt: "consent" },
} as const;
const MICROSOFT = {
  authorizeUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
  tokenUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
  deviceUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/devicecode",
} as const;

/** By name slug of the app, as the registry has it. */
const PROVIDERS: Readonly<Record<string, OAuthProvider>> = {
  airtable_oauth: {
    authorizeUrl: "https://airtable.com/oauth2/v1/authorize",
    tokenUrl: "https://airtable.com/oauth2/v1/token",
    scopes: ["data.records:read", "data.records:write", "schema.bases:read", "webhook:manage"],
    hasBasicAuth: true,
  },
  asana: { authorizeUrl: "https://app.asana.com/-/oauth_authorize", tokenUrl: "https://app.asana.com/-/oauth_token", scopes: ["default"] },
  discord: { authorizeUrl: "https://discord.com/oauth2/authorize", tokenUrl: "https://discord.com/api/oauth2/token", scopes: ["identify", "guilds"] },
  dropbox: {
    authorizeUrl: "https://www.dropbox.com/oauth2/authorize",
    tokenUrl: "https://api.dropboxapi.com/oauth2/token",
    scopes: [],
    authorizeParameters: { token_access_type: "offline" },
  },
  github: {
    authorizeUrl: "https://github.com/login/oauth/authorize",
    tokenUrl: "https://github.com/login/oauth/access_token",
    deviceUrl: "https://github.com/login/device/code",
    scopes: ["repo", "read:org", "admin:repo_hook"],
  },
  gitlab: {
    authorizeUrl: "https://gitlab.com/oauth/authorize",
    tokenUrl: "https://gitlab.com/oauth/token",
    deviceUrl: "https://gitlab.com/oauth/authorize_device",
    scopes: ["api"],
  },
  gmail: { ...GOOGLE, scopes: ["https://www.googleapis.com/auth/gmail.modify"] },
  google_calendar: { ...GOOGLE, scopes: ["https://www.googleapis.com/auth/calendar"] },
  google_drive: { ...GOOGLE, scopes: ["https://www.googleapis.com/auth/drive"] },
  google_sheets: { ...GOOGLE, scopes: ["https://www.googleapis.com/auth/spreadsheets", "https://www.googleapis.com/auth/drive"] },
  youtube_data_api: { ...GOOGLE, scopes: ["https://www.googleapis.com/auth/youtube"] },
  hubspot: {
    authorizeUrl: "https://app.hubspot.com/oauth/authorize",
    tokenUrl: "https://api.hubapi.com/oauth/v1/token",
    scopes: ["oauth", "crm.objects.contacts.read", "crm.objects.contacts.write"],
  },
  linear: {
    authorizeUrl: "https://linear.app/oauth/authorize",
    tokenUrl: "https://api.linear.app/oauth/token",
    scopes: ["read", "write"],
    scopeSeparator: ",",
  },
  microsoft_outlook: { ...MICROSOFT, scopes: ["offline_access", "User.Read", "Mail.ReadWrite", "Mail.Send"] },
  microsoft_teams: { ...MICROSOFT, scopes: ["offline_access", "User.Read", "Chat.ReadWrite", "ChannelMessage.Read.All"] },
  notion: {
    authorizeUrl: "https://api.notion.com/v1/oauth/authorize",
    tokenUrl: "https://api.notion.com/v1/oauth/token",
    scopes: [],
    authorizeParameters: { owner: "user" },
    hasBasicAuth: true,
  },
  salesforce_rest_api: {
    authorizeUrl: "https://login.salesforce.com/services/oauth2/authorize",
    tokenUrl: "https://login.salesforce.com/services/oauth2/token",
    scopes: ["api", "refresh_token"],
    lifetimeMs: 60 * 60_000,
  },
  shopify: {
    authorizeUrl: "https://{shop_id}.myshopify.com/admin/oauth/authorize",
    tokenUrl: "https://{shop_id}.myshopify.com/admin/oauth/access_token",
    scopes: ["read_products", "write_products", "read_orders"],
    scopeSeparator: ",",
  },
  slack: {
    authorizeUrl: "https://slack.com/oauth/v2/authorize",
    tokenUrl: "https://slack.com/api/oauth.v2.access",
    scopes: ["channels:history", "channels:read", "chat:write", "users:read"],
    scopeSeparator: ",",
    scopeParameter: "user_scope",
    tokenMember: "authed_user",
  },
  zoom: { authorizeUrl: "https://zoom.us/oauth/authorize", tokenUrl: "https://zoom.us/oauth/token", scopes: [], hasBasicAuth: true },
};

/** What is known of an app's provider; `undefined`: its addresses have to be given. */
export function providerOf(app: string): OAuthProvider | undefined {
  return Object.hasOwn(PROVIDERS, app) ? PROVIDERS[app] : undefined;
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
export function isDue({ grantedAt, expiresAt }: OAuthGrant, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now < grantedAt - CLOCK_SLACK_MS || now >= expiresAt - Math.min(LONGEST_MARGIN_MS, (expiresAt - grantedAt) / 4);
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
