import type { Account } from "../../domain/account/account.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { type CatalogApp, fillAddress, withDefaults } from "../../domain/account/app-catalog.ts";
import { publicLocation } from "../../domain/component/registry.ts";
import {
  type GrantedTokens,
  type OAuthClient,
  type OAuthFlow,
  type OAuthGrant,
  type OAuthProvider,
  TOKEN_FIELDS,
  travelsSafely,
} from "../../domain/account/oauth.ts";

export interface OAuthRequest {
  readonly app: string;
  readonly name?: string;
  /** Gets new tokens. Omitted for a new account. */
  readonly account?: Account;
  readonly flow: OAuthFlow;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly redirectUri?: string;
  /** For apps whose provider is unknown or has other addresses. */
  readonly addresses: Partial<Pick<OAuthProvider, "authorizeUrl" | "tokenUrl" | "deviceUrl" | "refreshUrl">>;
  /** Other fields of the account, which addresses may contain. */
  readonly fields: JsonObject;
}

export function clientOf(
  { clientId, clientSecret, redirectUri }: OAuthRequest,
  { authorizeUrl, tokenUrl, deviceUrl, hasBasicAuth, ...rest }: OAuthProvider,
): OAuthClient {
  const { tokenMember, lifetimeMs, refreshUrl } = rest;
  return {
    id: clientId,
    tokenUrl,
    ...(authorizeUrl === "" ? {} : { authorizeUrl }),
    ...(deviceUrl === undefined ? {} : { deviceUrl }),
    ...(refreshUrl === undefined ? {} : { refreshUrl }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(clientSecret === undefined ? {} : { secret: clientSecret }),
    ...(hasBasicAuth === true ? { hasBasicAuth } : {}),
    ...(tokenMember === undefined ? {} : { tokenMember }),
    ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
  };
}

/** Some providers send these with tokens or in the callback, and components read them. */
export function broughtFields({ tokenFields = {}, callbackFields = {} }: OAuthProvider, { rest }: GrantedTokens, callback: string | undefined): JsonObject {
  const parameters = callback === undefined ? new URLSearchParams() : new URL(callback).searchParams;
  const told = (names: Readonly<Record<string, string>>, value: (name: string) => unknown): [string, string][] =>
    Object.entries(names).flatMap(([field, name]): [string, string][] => {
      const found = value(name);
      return typeof found === "string" ? [[field, found]] : [];
    });
  return Object.fromEntries([...told(tokenFields, (name) => rest[name]), ...told(callbackFields, (name) => parameters.get(name))]);
}

/** Fills in the account's fields. Throws PD_BAD_INPUT. */
export function settled({ app, addresses, fields }: OAuthRequest, known: OAuthProvider | undefined): OAuthProvider {
  const tokenUrl = addresses.tokenUrl ?? known?.tokenUrl;
  if (tokenUrl === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: its provider is not known`, { fix: "Give --authorize-url and --token-url" });
  const filled = (url: string): string => {
    const { text, missing } = fillAddress(url, fields);
    return missing[0] === undefined ? checkedUrl(text) : wanted(undefined, app, missing[0]);
  };
  const authorizeUrl = addresses.authorizeUrl ?? known?.authorizeUrl;
  const [deviceUrl, refreshUrl] = [
    addresses.deviceUrl ?? known?.deviceUrl,
    addresses.refreshUrl ?? (addresses.tokenUrl === undefined ? known?.refreshUrl : undefined),
  ];
  return {
    scopes: [],
    ...known,
    authorizeUrl: authorizeUrl === undefined ? "" : filled(authorizeUrl),
    tokenUrl: filled(tokenUrl),
    ...(deviceUrl === undefined ? {} : { deviceUrl: filled(deviceUrl) }),
    ...(refreshUrl === undefined ? {} : { refreshUrl: filled(refreshUrl) }),
  };
}

const ADDRESSES = ["authorize_url", "token_url", "device_url"];

export function wanted(value: string | undefined, app: string, field: string): string {
  if (value !== undefined && value !== "") return value;
  const fix = ADDRESSES.includes(field) ? { fix: `Give --${field.replaceAll("_", "-")}` } : /_ur[il]$/.test(field) ? {} : { fix: `Give --field ${field}=…` };
  throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: ${field} is missing`, fix);
}

function checkedUrl(url: string): string {
  if (travelsSafely(url)) return url;
  throw new PdError("PD_BAD_INPUT", `Cannot get tokens at ${JSON.stringify(publicLocation(url))}: expected an https address without a name and password`);
}

/**
 * Lends the client to another account of the same provider. Throws PD_BAD_INPUT when the account has no client, or one
 * of another provider.
 */
export function lentBy(
  { app: lenderApp, name, oauth, credentials }: Account,
  { app, fields, known }: Pick<OAuthRequest, "app" | "fields"> & { readonly known: CatalogApp | undefined },
): Pick<OAuthRequest, "clientId" | "clientSecret" | "addresses" | "fields"> {
  const client = oauth?.client;
  if (client === undefined) throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} with the client of "${name}": that account has no OAuth client`);
  const lent = { clientId: client.id, ...(client.secret === undefined ? {} : { clientSecret: client.secret }) };
  const tokenUrlFor = (of: JsonObject): string | undefined => {
    const address = known?.oauth?.tokenUrl;
    return address === undefined ? undefined : fillAddress(address, withDefaults(known, of)).text;
  };
  if (lenderApp === app) {
    const shared = { ...Object.fromEntries(Object.entries(credentials).filter(([field]) => isInAddress(known, field))), ...fields };
    // Connected at the known address, so the new fields apply. Any other keeps its own addresses.
    return { ...lent, fields: shared, addresses: tokenUrlFor(credentials) === client.tokenUrl ? {} : addressesOf(client) };
  }
  if (tokenUrlFor(fields) === client.tokenUrl) return { ...lent, fields, addresses: {} };
  throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} with the client of "${name}": it belongs to another provider, ${new URL(client.tokenUrl).host}`);
}

function isInAddress(app: CatalogApp | undefined, field: string): boolean {
  return app?.oauth?.tokenUrl.includes(`{${field}}`) === true;
}

function addressesOf({ tokenUrl, authorizeUrl, deviceUrl, refreshUrl }: OAuthClient): OAuthRequest["addresses"] {
  return {
    tokenUrl,
    ...(authorizeUrl === undefined ? {} : { authorizeUrl }),
    ...(deviceUrl === undefined ? {} : { deviceUrl }),
    ...(refreshUrl === undefined ? {} : { refreshUrl }),
  };
}

export function requestAgain(
  { app, name, oauth, credentials, ...account }: Account & { readonly oauth: OAuthGrant },
  known: CatalogApp | undefined,
): Omit<OAuthRequest, "redirectUri"> {
  const { client, flow, scope } = oauth;
  const fields = Object.fromEntries(Object.entries(credentials).filter(([field]) => !TOKEN_FIELDS.includes(field)));
  const separator = known?.oauth?.scopeSeparator ?? " ";
  return {
    app,
    account: { app, name, oauth, credentials, ...account },
    flow,
    clientId: client.id,
    ...(client.secret === undefined ? {} : { clientSecret: client.secret }),
    scopes: scope === "" ? [] : scope.split(separator),
    addresses: addressesOf(client),
    fields,
  };
}
