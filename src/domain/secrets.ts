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
  return starsOver(text, longestFirst(secrets));
}

/** One may be the beginning of another. */
export function longestFirst(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)].filter(({ length }) => length >= SHORTEST_SECRET).toSorted((a, b) => b.length - a.length);
}

/** So much of the beginning of a long one tells it from other texts, where the rest was cut off. */
const TELLING = 64;

/** A text in which stars stand for these forms, the longest of which comes first, and then for what a cut has left of one. */
export function starsOver(text: string, forms: readonly string[]): string {
  const long: string[] = [];
  let shown = text;
  for (const form of forms) {
    if (form.length > TELLING) {
      if (!shown.includes(form.slice(0, TELLING))) continue;
      long.push(form);
    }
    shown = shown.replaceAll(form, STARS);
  }
  // Not before all whole ones: one may begin as another does, and end otherwise.
  return long.length === 0 ? shown : withoutBeginnings(shown, long);
}

function withoutBeginnings(text: string, forms: readonly string[]): string {
  let [shown, from] = ["", 0];
  for (;;) {
    const next = forms.map((form) => ({ form, at: text.indexOf(form.slice(0, TELLING), from) })).filter(({ at }) => at >= 0);
    if (next.length === 0) return shown + text.slice(from);
    const at = Math.min(...next.map((one) => one.at));
    const length = Math.max(...next.map((one) => (one.at === at ? lengthInCommon(text, at, one.form) : 0)));
    shown += text.slice(from, at) + STARS;
    from = at + length;
  }
}

function lengthInCommon(text: string, at: number, form: string): number {
  let length = TELLING;
  while (length < form.length && text[at + length] === form[length]) length++;
  return length;
}

/** A line of a longer secret that is one by itself. */
const SHORTEST_LINE = 16;

/** How secrets may be met: as they are, as URLs, JSON and the console write them, as a name or password of Basic, and line by line. The longest first. */
export function formsOf(secrets: readonly string[]): readonly string[] {
  return longestFirst(secrets.flatMap(formsOfOne));
}

/** In no order. */
export function formsOfOne(secret: string): readonly string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE) : [];
  const basic = [`${secret}:`, `:${secret}`].map((pair) => Buffer.from(pair).toString("base64"));
  return [...[secret, ...lines].flatMap((text) => [text, JSON.stringify(text).slice(1, -1), ...asInspected(text), ...asInUrls(text)]), ...basic];
}

/** As each part of a URL has it, and as a form does, which is what `URLSearchParams` writes. */
function asInUrls(text: string): readonly string[] {
  // A half of a character is none to a URL.
  const whole = text.replaceAll(/\p{Surrogate}/gu, "\u{fffd}");
  const url = new URL("http://host/");
  Object.assign(url, { password: whole, pathname: whole, search: whole, hash: whole });
  const form = new URLSearchParams([["", whole]]).toString().slice(1);
  const parts = [url.password, url.pathname.slice(1), url.search.slice(1), url.hash.slice(1)];
  // Of what names folders, such as ../orders, a path keeps a harmless word.
  const shortest = whole.replaceAll(/^[/?#]|[\t\r\n]/g, "").length;
  return [encodeURIComponent(whole), encodeURI(whole), form, ...parts.filter(({ length }) => length >= shortest)];
}

/** What Node's console writes in place of these characters in a text within an object; of others their number. */
const ESCAPES: Readonly<Record<string, string>> = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
// oxlint-disable-next-line no-control-regex -- these are what it is about
const ESCAPED = /[\u0000-\u001f\\\u007f-\u009f]/g;

/** The second, when it has every kind of quotation mark. */
function asInspected(text: string): readonly string[] {
  const escaped = text.replaceAll(ESCAPED, (one) => ESCAPES[one] ?? `\\x${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return [escaped, escaped.replaceAll("'", "\\'")];
}

/** Puts stars for secrets in all texts and names of JSON values, in whatever form they are met. */
export function hiderOf(secrets: readonly string[]): (value: JsonValue) => JsonValue {
  const forms = formsOf(secrets);
  const over = (text: string): string => starsOver(text, forms);
  const hide = (part: JsonValue): JsonValue => {
    if (typeof part === "string") return over(part);
    if (typeof part === "number") return forms.includes(String(part)) ? STARS : part;
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

/** The same with its numbers, for what is declared to be secret: names alone say so of many numbers that are not. */
export function textsAndNumbersIn(value: JsonValue | undefined): string[] {
  if (typeof value === "number") return [String(value)];
  return Array.isArray(value) ? value.flatMap(textsAndNumbersIn) : textsIn(value);
}
