import { basicToken } from "./basic-auth.ts";
import { type JsonObject, isJsonObject, parseJson } from "../text/json.ts";
import type { OAuthProvider } from "./oauth.ts";
import { publicLocation } from "../component/registry.ts";

export interface AppField {
  readonly name: string;
  readonly secret?: boolean | undefined;
  readonly optional?: boolean | undefined;
  readonly default?: string | undefined;
  readonly hint?: string | undefined;
}

/**
 * A GET that the app answers with 2xx for valid credentials, else 401 or 403. Fields of the account replace `{field}`.
 * Without `authorization` and `basic`, the OAuth access token is sent as bearer.
 */
export interface AppProbe {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly basic?: { readonly user: string; readonly password: string } | undefined;
  /** Member of a 200 response that means refusal. */
  readonly refusedBy?: { readonly member: string; readonly value: boolean } | undefined;
}

export interface CatalogApp {
  readonly name: string;
  /** Words of what its components are about. */
  readonly topics: string;
  /** Without those that OAuth provides. */
  readonly fields: readonly AppField[];
  /** Omitted without OAuth 2, or when the user must supply the URLs. */
  readonly oauth?: OAuthProvider;
  readonly probe?: AppProbe;
}

interface TableRow {
  readonly name: string;
  readonly topics: string;
  readonly fields?: readonly AppField[];
  readonly oauth?: Partial<OAuthProvider> & { readonly scopes: readonly string[]; readonly provider?: string };
  readonly probe?: AppProbe;
}

type Providers = Readonly<Record<string, Omit<OAuthProvider, "scopes">>>;

/** Loaded on demand, because most servers never use it. */
export async function appCatalog(): Promise<ReadonlyMap<string, CatalogApp>> {
  const { default: table } = await import("./app-catalog.json", { with: { type: "json" } });
  const rows: Readonly<Record<string, TableRow>> = table.apps;
  return new Map(Object.entries(rows).map(([slug, row]) => [slug, knownAppOf(row, table.providers)]));
}

export async function catalogApp(slug: string): Promise<CatalogApp | undefined> {
  return (await appCatalog()).get(slug);
}

function knownAppOf({ name, topics, fields = [], oauth, probe }: TableRow, providers: Providers): CatalogApp {
  const provider = providerOf(oauth, providers);
  return { name, topics, fields, ...(provider === undefined ? {} : { oauth: provider }), ...(probe === undefined ? {} : { probe }) };
}

function providerOf(oauth: TableRow["oauth"], providers: Providers): OAuthProvider | undefined {
  if (oauth === undefined) return undefined;
  const { provider = "", ...own } = oauth;
  const { authorizeUrl, tokenUrl, ...rest } = { ...providers[provider], ...own };
  return authorizeUrl === undefined || tokenUrl === undefined ? undefined : { ...rest, authorizeUrl, tokenUrl };
}

export function withDefaults(app: CatalogApp | undefined, credentials: JsonObject): JsonObject {
  const usual = (app?.fields ?? []).flatMap((field): [string, string][] => (field.default === undefined ? [] : [[field.name, field.default]]));
  return { ...Object.fromEntries(usual), ...credentials };
}

export interface Filled {
  readonly text: string;
  /** Unknown fields. Their placeholders stay in the text. */
  readonly missing: readonly string[];
}

export function fillTemplate(template: string, fields: JsonObject, encode: (text: string, at: number) => string = (text) => text): Filled {
  const missing: string[] = [];
  const text = template.replaceAll(/\{(\w+)\}/g, (_whole, field: string, at: number) => {
    const value = fields[field];
    if (typeof value === "string" || typeof value === "number") return encode(String(value), at);
    missing.push(field);
    return `{${field}}`;
  });
  return { text, missing };
}

/** A regular expression takes quadratic time on many slashes. */
function withoutSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end--;
  return address.slice(0, end);
}

/** A field at the start of the template is an address, perhaps without a scheme. */
export function fillAddress(template: string, fields: JsonObject): Filled {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%3A", ":");
  const { text, missing } = fillTemplate(template, fields, (value, at) => (at === 0 ? withoutSlashes(value) : encode(value)));
  return { text: /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`, missing };
}

export interface ProbeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}

export function probeRequest({ url, headers = {}, basic }: AppProbe, credentials: JsonObject): ProbeRequest {
  const address = fillAddress(url, credentials);
  const [user, password] = [fillTemplate(basic?.user ?? "", credentials), fillTemplate(basic?.password ?? "", credentials)];
  const given = Object.entries(headers).map(([name, template = ""]): [string, Filled] => [name.toLowerCase(), fillTemplate(template, credentials)]);
  const filled = Object.fromEntries(given.map(([name, { text }]) => [name, text]));
  const token = credentials["oauth_access_token"];
  const authorization = basic !== undefined ? `Basic ${basicToken(user.text, password.text)}` : typeof token === "string" ? `Bearer ${token}` : undefined;
  return {
    url: address.text,
    headers: { ...(authorization === undefined ? {} : { authorization }), ...filled },
    missing: [...new Set([address, user, password, ...given.map(([, header]) => header)].flatMap(({ missing }) => missing))],
  };
}

/** Omits the query and fields that may be secret. */
export function shownAddress({ url }: AppProbe, app: CatalogApp | undefined, credentials: JsonObject): string {
  const open = new Set((app?.fields ?? []).filter(({ secret }) => secret !== true).map(({ name }) => name));
  const shown = Object.fromEntries(Object.entries(credentials).filter(([name]) => open.has(name)));
  return publicLocation(fillAddress(url.replace(/[?#].*$/s, ""), shown).text);
}

export type Verdict = "accepted" | "refused" | "unclear";

export function verdictOf({ refusedBy }: Pick<AppProbe, "refusedBy">, { status, body }: { status: number; body: string }): Verdict {
  const said = parseJson(body);
  if (status === 401 || status === 403) return "refused";
  if (refusedBy !== undefined && isJsonObject(said) && said[refusedBy.member] === refusedBy.value) return "refused";
  return status >= 200 && status < 300 ? "accepted" : "unclear";
}
