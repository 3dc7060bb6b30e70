import type { JsonValue } from "../text/json.ts";

export const STARS = "********";

/** Shorter texts occur everywhere by chance. */
export const SHORTEST_SECRET = 6;

const SECRET_FIELD = /token|secret|key|pass|pwd|auth|credential|cookie|signature|private|webhook_url|connection_string|jwt|\bpat\b/i;
/** These identify an account without giving access. */
const PUBLIC_FIELD = /_uid$|client_id$|^public/i;

export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name) && !PUBLIC_FIELD.test(name);
}

export function secretVariables(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_FIELD.test(name) && value.length >= SHORTEST_SECRET ? [value] : []));
}

export function withStars(text: string, secrets: readonly string[]): string {
  return starsOver(text, formsOf(secrets));
}

/** Characters that identify a long secret whose rest was cut off. */
const TELLING = 64;

/** First `TELLING` characters → forms that start with them. */
export type SecretForms = ReadonlyMap<string, readonly string[]>;

export function byBeginning(forms: Iterable<string>): SecretForms {
  const alike = new Map<string, string[]>();
  for (const form of new Set(forms)) {
    if (form.length < SHORTEST_SECRET) continue;
    const beginning = form.slice(0, TELLING);
    const known = alike.get(beginning);
    if (known === undefined) alike.set(beginning, [form]);
    else known.push(form);
  }
  return alike;
}

/** `to` is exclusive. */
type Span = readonly [from: number, to: number];

/** Also masks a long form that is cut off. Forms may overlap or contain each other. */
export function starsOver(text: string, forms: SecretForms): string {
  const spans: Span[] = [];
  for (const [beginning, alike] of forms) {
    const first = text.indexOf(beginning);
    if (first >= 0) addSpans(spans, { text, beginning, alike, first });
  }
  return spans.length === 0
    ? text
    : covered(
        text,
        spans.toSorted(([a], [b]) => a - b),
      );
}

interface Search {
  readonly text: string;
  readonly beginning: string;
  readonly alike: readonly string[];
  readonly first: number;
}

function addSpans(spans: Span[], { text, beginning, alike, first }: Search): void {
  for (let from = first; from >= 0;) {
    let length = beginning.length;
    for (const form of alike) length = Math.max(length, lengthInCommon(text, from, { form, least: beginning.length }));
    spans.push([from, from + length]);
    from = text.indexOf(beginning, from + length);
  }
}

function lengthInCommon(text: string, from: number, { form, least }: { form: string; least: number }): number {
  let length = least;
  while (length < form.length && text[from + length] === form[length]) length++;
  return length;
}

/** `spans` are sorted by their start. */
function covered(text: string, spans: readonly Span[]): string {
  let [shown, end] = ["", 0];
  for (const [from, to] of spans) {
    if (from >= end) shown += text.slice(end, from) + STARS;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** Shorter lines of a secret are not masked alone. */
const SHORTEST_LINE = 16;

/** Plain, in URLs, JSON, console output, Base64 and hexadecimal text, and line by line. */
export function formsOf(secrets: readonly string[]): SecretForms {
  return byBeginning(secrets.flatMap(formsOfOne));
}

/** The rest of a longer secret is masked only plain and in JSON. */
const MOST_ENCODED = 8192;

export function formsOfOne(secret: string): readonly string[] {
  return secret.length > MOST_ENCODED ? [secret, ...asInJson(secret), ...encodedForms(secret.slice(0, MOST_ENCODED))] : encodedForms(secret);
}

function encodedForms(secret: string): readonly string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE) : [];
  const written = [secret, ...lines].flatMap((text) => [text, ...asInJson(text), ...asInspected(text), ...asInUrls(text)]);
  return [...written, ...asInBase64(secret), ...asBytes(secret)];
}

/**
 * Three bytes become four characters, so there are three alignments. Characters at the edges also encode adjacent text
 * and are left out. They reveal at most 4 bits at each end.
 */
function asInBase64(secret: string): readonly string[] {
  // A client's secret is form-encoded before it becomes a Basic password (RFC 6749, 2.3.1).
  const texts = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(inUnicode(secret)), formEncoded(secret)]);
  const byAlignment = [...texts].flatMap((text) => {
    const bytes = Buffer.from(text);
    return [0, 1, 2].map((lead) => {
      const characters = Buffer.concat([Buffer.alloc(lead), bytes]).toString("base64");
      return characters.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
    });
  });
  // A whole Basic value or token has no adjacent text.
  const whole = [`${secret}:`, `:${secret}`, secret].map((text) => Buffer.from(text).toString("base64"));
  return [...byAlignment, ...whole].flatMap((text) => {
    const inUrl = encodeURIComponent(text);
    return [text, text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""), inUrl, lowerEscapes(inUrl)];
  });
}

/** Hexadecimal, percent-encoded in every byte or twice, and JSON with numeric escapes. */
function asBytes(secret: string): readonly string[] {
  const hex = Buffer.from(secret).toString("hex");
  const percent = hex.replaceAll(/../g, "%$&");
  const twice = encodeURIComponent(encodeURIComponent(inUnicode(secret)));
  const json = JSON.stringify(secret).slice(1, -1);
  const numbered = json.replaceAll(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const upperNumbered = numbered.replaceAll(/\\u[\da-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`);
  const inJson = [json, numbered, upperNumbered].flatMap((text) => [text, text.replaceAll("/", "\\/")]);
  return [hex, hex.toUpperCase(), percent, percent.toUpperCase(), twice, lowerEscapes(twice), ...inJson];
}

/** The second form is JSON inside JSON. */
function asInJson(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [once, JSON.stringify(once).slice(1, -1)];
}

/** Encodes the text like the parts of a URL, `URLSearchParams`, request signers and axios. */
function asInUrls(text: string): readonly string[] {
  const whole = inUnicode(text);
  const url = new URL("http://host/");
  Object.assign(url, { password: whole, pathname: whole, search: whole, hash: whole });
  const parts = [url.password, url.pathname.slice(1), url.search.slice(1), url.hash.slice(1)];
  // A URL resolves `..` in a path such as `../orders` and leaves a harmless word.
  const shortest = whole.replaceAll(/^[/?#]|[\t\r\n]/g, "").length;
  const encoded = encodeURIComponent(whole);
  const strict = encoded.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const lenient = encoded.replaceAll(/%3A|%24|%2C|%5B|%5D/g, decodeURIComponent).replaceAll("%20", "+");
  const forms = [encoded, strict, lenient, formEncoded(text), encodeURI(whole), ...parts.filter(({ length }) => length >= shortest)];
  return forms.flatMap((one) => [one, lowerEscapes(one)]);
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

function lowerEscapes(text: string): string {
  return text.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
}

/** URLs replace half of a surrogate pair with the replacement character. */
function inUnicode(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\u{fffd}");
}

/** Escapes of Node's console for strings in objects. */
const ESCAPES: Readonly<Record<string, string>> = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
// oxlint-disable-next-line no-control-regex -- these are what it is about
const ESCAPED = /[\u0000-\u001f\\\u007f-\u009f]/g;

/** The second form is for text with every kind of quote. */
function asInspected(text: string): readonly string[] {
  const escaped = text.replaceAll(ESCAPED, (one) => ESCAPES[one] ?? `\\x${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return [escaped, escaped.replaceAll("'", "\\'")];
}

/** Masks strings, numbers and names. */
export function hiderOf(secrets: readonly string[]): (value: JsonValue) => JsonValue {
  const forms = formsOf(secrets);
  const over = (text: string): string => starsOver(text, forms);
  const hide = (part: JsonValue): JsonValue => {
    if (typeof part === "string") return over(part);
    if (typeof part === "number") return forms.has(String(part)) ? STARS : part;
    if (Array.isArray(part)) return part.map(hide);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [over(name), member === undefined ? member : hide(member)]));
  };
  return forms.size === 0 ? (value) => value : hide;
}

/** Returns strings from fields whose names look secret. */
export function fieldTexts(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  const look = (part: JsonValue | undefined): void => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return;
    for (const [name, member] of Object.entries(part)) {
      if (isSecretField(name)) addTexts(found, member, false);
      else look(member);
    }
  };
  look(value);
  return found;
}

export function textsIn(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  addTexts(found, value, false);
  return found;
}

/** Includes numbers, for declared secrets. Field names alone match too many harmless numbers. */
export function textsAndNumbersIn(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  addTexts(found, value, true);
  return found;
}

function addTexts(found: string[], value: JsonValue | undefined, withNumbers: boolean): void {
  if (typeof value === "string" || (withNumbers && typeof value === "number")) found.push(String(value));
  else if (typeof value === "object" && value !== null) for (const member of Object.values(value)) addTexts(found, member, withNumbers);
}
