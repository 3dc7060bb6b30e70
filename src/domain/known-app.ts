import { basicToken } from "./basic-auth.ts";
import { type JsonObject, isJsonObject, parseJson } from "./json.ts";
import type { OAuthProvider } from "./oauth.ts";
import { publicLocation } from "./registry.ts";

/** A field of an app's account, by the name under which components read it. */
export interface AppField {
  readonly name: string;
  /** Not to be seen by others. */
  readonly secret?: boolean | undefined;
  /** Components do without it. */
  readonly optional?: boolean | undefined;
  /** Kept when none is given. */
  readonly default?: string | undefined;
  /** What it looks like. */
  readonly hint?: string | undefined;
}

/**
 * A GET that an app answers with 2xx to whoever may use it, and with 401 or 403 to others. `{field}` stands for a field of the
 * account. Without `authorization` and `basic` an OAuth app gets its access token as a bearer's.
 */
export interface AppProbe {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly basic?: { readonly user: string; readonly password: string } | undefined;
  /** How a refusal looks that comes with status 200. */
  readonly refusedBy?: { readonly member: string; readonly value: boolean } | undefined;
}

/** What is known of an app before any code of it is here. */
export interface KnownApp {
  readonly name: string;
  /** Beside those that OAuth brings. */
  readonly fields: readonly AppField[];
  /** Absent: it has no OAuth 2, or its addresses have to be given. */
  readonly oauth?: OAuthProvider;
  readonly probe?: AppProbe;
}

interface TableRow {
  readonly name: string;
  readonly fields?: readonly AppField[];
  readonly oauth?: Partial<OAuthProvider> & { readonly scopes: readonly string[]; readonly provider?: string };
  readonly probe?: AppProbe;
}

type Providers = Readonly<Record<string, Omit<OAuthProvider, "scopes">>>;

/** The apps that the registry uses most, by name slug as it has them. Read when somebody asks: most servers never do. */
export async function knownApps(): Promise<ReadonlyMap<string, KnownApp>> {
  const { default: table } = await import("./known-apps.json", { with: { type: "json" } });
  const rows: Readonly<Record<string, TableRow>> = table.apps;
  return new Map(Object.entries(rows).map(([slug, row]) => [slug, knownAppOf(row, table.providers)]));
}

export async function knownApp(slug: string): Promise<KnownApp | undefined> {
  return (await knownApps()).get(slug);
}

function knownAppOf({ name, fields = [], oauth, probe }: TableRow, providers: Providers): KnownApp {
  const provider = providerOf(oauth, providers);
  return { name, fields, ...(provider === undefined ? {} : { oauth: provider }), ...(probe === undefined ? {} : { probe }) };
}

/** Several apps share a provider. */
function providerOf(oauth: TableRow["oauth"], providers: Providers): OAuthProvider | undefined {
  if (oauth === undefined) return undefined;
  const { provider = "", ...own } = oauth;
  const { authorizeUrl, tokenUrl, ...rest } = { ...providers[provider], ...own };
  return authorizeUrl === undefined || tokenUrl === undefined ? undefined : { ...rest, authorizeUrl, tokenUrl };
}

/** Credentials with what is usual in the place of what was not given. */
export function withDefaults(app: KnownApp | undefined, credentials: JsonObject): JsonObject {
  const usual = (app?.fields ?? []).flatMap((field): [string, string][] => (field.default === undefined ? [] : [[field.name, field.default]]));
  return { ...Object.fromEntries(usual), ...credentials };
}

/** A text whose `{field}` are filled in. */
export interface Filled {
  readonly text: string;
  /** Fields that it names and that are not there: they stay as they were. */
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

/** An expression would look at each slash of many again and again. */
function withoutSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end--;
  return address.slice(0, end);
}

/** An address whose fields are filled in; one that it begins with is an address itself, perhaps without a scheme. */
export function fillAddress(template: string, fields: JsonObject): Filled {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%3A", ":");
  const { text, missing } = fillTemplate(template, fields, (value, at) => (at === 0 ? withoutSlashes(value) : encode(value)));
  return { text: /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`, missing };
}

export interface ProbeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields that it wants and that the account does not have. */
  readonly missing: readonly string[];
}

/** What asks an app whether it takes these credentials. */
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

/** The address of a probe as others may see it: fields that may be secret by their names, and nothing of what stands behind `?`. */
export function shownAddress({ url }: AppProbe, app: KnownApp | undefined, credentials: JsonObject): string {
  const open = new Set((app?.fields ?? []).filter(({ secret }) => secret !== true).map(({ name }) => name));
  const shown = Object.fromEntries(Object.entries(credentials).filter(([name]) => open.has(name)));
  return publicLocation(fillAddress(url.replace(/[?#].*$/s, ""), shown).text);
}

export type Verdict = "accepted" | "refused" | "unclear";

/** What an answer says of the credentials. `body`: its text. */
export function verdictOf({ refusedBy }: Pick<AppProbe, "refusedBy">, { status, body }: { status: number; body: string }): Verdict {
  const said = parseJson(body);
  if (status === 401 || status === 403) return "refused";
  if (refusedBy !== undefined && isJsonObject(said) && said[refusedBy.member] === refusedBy.value) return "refused";
  return status >= 200 && status < 300 ? "accepted" : "unclear";
}
