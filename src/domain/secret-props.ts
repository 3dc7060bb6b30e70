import { accountIdOf } from "./account.ts";
import { basicToken } from "./basic-auth.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "./json.ts";
import type { PropDeclaration } from "./prop.ts";

const STARS = "********";
const SENSITIVE_HEADER = /authorization|cookie|token|secret|key|password|signature/i;

/** Whether a value tells what others must not see: credentials, secrets, and what signs in to somewhere. */
export function holdsSecret(prop: PropDeclaration, value: JsonValue | undefined): boolean {
  if (prop.kind === "app") return true;
  if (prop.kind === "user") return prop.secret;
  if (prop.kind !== "http-request" || !isJsonObject(value)) return false;
  return isJsonObject(value["auth"]) || headersOf(value).some(isSensitive);
}

/** A value as it is shown: stars stand for what others must not see. */
export function withoutSecrets(prop: PropDeclaration, value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || !holdsSecret(prop, value)) return value;
  if (accountIdOf(value) !== undefined) return value;
  if (prop.kind === "app") return isJsonObject(value) ? Object.fromEntries(Object.keys(value).map((field) => [field, STARS])) : undefined;
  return prop.kind === "http-request" && isJsonObject(value) ? requestWithoutSecrets(value) : STARS;
}

function requestWithoutSecrets(request: JsonObject): JsonObject {
  const { auth } = request;
  const { headers } = request;
  return {
    ...request,
    ...(isJsonObject(auth) ? { auth: Object.fromEntries(Object.entries(auth).map(([name, value]) => [name, name === "type" ? value : STARS])) } : {}),
    ...(Array.isArray(headers) ? { headers: headersOf(request).map((header) => (isSensitive(header) ? { ...header, value: STARS } : header)) } : {}),
    ...(isJsonObject(headers)
      ? { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSensitive({ name }) ? STARS : value])) }
      : {}),
  };
}

/** A list of `{ name, value }`, or names and values (platform.md §4.2). */
function headersOf({ headers }: JsonObject): JsonObject[] {
  if (isJsonObject(headers)) return Object.entries(headers).map(([name, value]) => ({ name, value }));
  return Array.isArray(headers) ? headers.filter(isJsonObject) : [];
}

function isSensitive({ name }: JsonObject): boolean {
  return SENSITIVE_HEADER.test(String(name));
}

const SECRET_FIELD = /token|secret|key|pass|pwd|auth|credential|cookie|signature|private|webhook_url|connection_string|jwt|\bpat\b/i;
/** Fields that tell who somebody is, not that they are. */
const PUBLIC_FIELD = /_uid$|client_id$|^public/i;
/** Whether a field of an account is not to be seen by others, as its name says. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name) && !PUBLIC_FIELD.test(name);
}

/** Shorter ones would be found in any text. */
const SHORTEST_SECRET = 6;

/** Texts in a value that must not be seen in what a component prints: tokens, keys and passwords. */
export function secretTexts(prop: PropDeclaration, value: JsonValue | undefined): readonly string[] {
  if (value === undefined || !holdsSecret(prop, value)) return [];
  const found = prop.kind === "user" ? textsIn(value) : prop.kind === "http-request" && isJsonObject(value) ? requestTexts(value) : fieldTexts(value);
  return found.filter((text) => text.length >= SHORTEST_SECRET);
}

/** What signs a request in: the members of `auth`, with name and password as Basic has them, and sensitive headers. */
function requestTexts(request: JsonObject): string[] {
  const { type: _kind, ...auth } = isJsonObject(request["auth"]) ? request["auth"] : {};
  const { username, password } = auth;
  const basic = typeof username === "string" && typeof password === "string" ? [basicToken(username, password)] : [];
  const headers = headersOf(request)
    .filter(isSensitive)
    .flatMap(({ value }) => textsIn(value))
    .flatMap((text) => [text, text.replace(/^\w+ /, "")]);
  return [...fieldTexts(auth), ...textsIn(password), ...basic, ...headers];
}

/** A text in which stars stand for secrets. */
export function withStars(text: string, secrets: readonly string[]): string {
  // One may be the beginning of another.
  const longestFirst = secrets.filter(({ length }) => length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((shown, secret) => shown.replaceAll(secret, STARS), text);
}

/** Texts of variables whose names say that they are secret. */
export function secretVariables(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_FIELD.test(name) && value.length >= SHORTEST_SECRET ? [value] : []));
}

function fieldTexts(value: JsonValue | undefined): string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (isSecretField(name) ? textsIn(member) : fieldTexts(member)));
}

function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
