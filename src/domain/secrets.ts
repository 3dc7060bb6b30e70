import { type JsonValue, isJsonObject } from "./json.ts";

/** Stands for what others must not see. */
export const STARS = "********";

/** Shorter ones would be found in any text. */
export const SHORTEST_SECRET = 6;

const SECRET_FIELD = /token|secret|key|pass|pwd|auth|credential|cookie|signature|private|webhook_url|connection_string|jwt|\bpat\b/i;
/** Fields that tell who somebody is, not that they are. */
const PUBLIC_FIELD = /_uid$|client_id$|^public/i;

/** Whether a field of an account is not to be seen by others, as its name says. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name) && !PUBLIC_FIELD.test(name);
}

/** Texts of variables whose names say that they are secret. */
export function secretVariables(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_FIELD.test(name) && value.length >= SHORTEST_SECRET ? [value] : []));
}

/** A text in which stars stand for secrets. */
export function withStars(text: string, secrets: readonly string[]): string {
  // One may be the beginning of another.
  const longestFirst = secrets.filter(({ length }) => length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((shown, secret) => shown.replaceAll(secret, STARS), text);
}

/** A line of a longer secret that is one by itself. */
const SHORTEST_LINE = 16;

/** How a secret may be met: as it is, as URLs and JSON have it, as a name or password of Basic, and line by line. */
export function formsOf(secret: string): string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE) : [];
  const basic = [`${secret}:`, `:${secret}`].map((pair) => Buffer.from(pair).toString("base64"));
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...basic, ...lines];
}

/** Puts stars for secrets in all texts and names of JSON values, in whatever form they are met. */
export function hiderOf(secrets: readonly string[]): (value: JsonValue) => JsonValue {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter(({ length }) => length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length);
  const over = (text: string): string => forms.reduce((shown, form) => shown.replaceAll(form, STARS), text);
  const hide = (part: JsonValue): JsonValue => {
    if (typeof part === "string") return over(part);
    if (Array.isArray(part)) return part.map(hide);
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [over(name), member === undefined ? member : hide(member)]));
  };
  return forms.length === 0 ? (value) => value : hide;
}

/** Texts of the fields that are secret, as their names say. */
export function fieldTexts(value: JsonValue | undefined): string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (isSecretField(name) ? textsIn(member) : fieldTexts(member)));
}

/** All texts in a value. */
export function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
