import type { JsonValue } from "./json.ts";

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

/** A text in which stars stand for secrets, in whatever form of `formsOf` they are met. */
export function withStars(text: string, secrets: readonly string[]): string {
  return starsOver(text, formsOf(secrets));
}

/** So much of the beginning of a long one tells it from other texts, where the rest was cut off. */
const TELLING = 64;

/** Forms by what they begin with, which is the whole of one that is not long. */
export type SecretForms = ReadonlyMap<string, readonly string[]>;

/** Without those that would be found in any text. */
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

/** From a place in a text to another, which does not belong to it. */
type Span = readonly [from: number, to: number];

/** A text in which stars stand for these forms, and for what a cut has left of a long one. Forms may lie within others, overlap or begin alike. */
export function starsOver(text: string, forms: SecretForms): string {
  const spans: Span[] = [];
  for (const [beginning, alike] of forms) {
    const first = text.indexOf(beginning);
    // As it mostly is, in each line of a log.
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
  /** Where the beginning is met first. */
  readonly first: number;
}

/** Where a form of these, which begin alike, or as much of it as the beginning, is met. */
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

/** `spans`: in the order in which they begin. */
function covered(text: string, spans: readonly Span[]): string {
  let [shown, end] = ["", 0];
  for (const [from, to] of spans) {
    if (from >= end) shown += text.slice(end, from) + STARS;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** A line of a longer secret that is one by itself. */
const SHORTEST_LINE = 16;

/** How secrets may be met: as they are, as URLs, JSON and the console write them, within Base64 or hexadecimal text, and line by line. */
export function formsOf(secrets: readonly string[]): SecretForms {
  return byBeginning(secrets.flatMap(formsOfOne));
}

/** The beginning of a longer one is looked for in all its forms, the rest only as it is and in JSON. */
const MOST_ENCODED = 8192;

/** The same of one, each as often as it comes about. */
export function formsOfOne(secret: string): readonly string[] {
  return secret.length > MOST_ENCODED ? [secret, ...asInJson(secret), ...encodedForms(secret.slice(0, MOST_ENCODED))] : encodedForms(secret);
}

function encodedForms(secret: string): readonly string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE) : [];
  const written = [secret, ...lines].flatMap((text) => [text, ...asInJson(text), ...asInspected(text), ...asInUrls(text)]);
  return [...written, ...asInBase64(secret), ...asBytes(secret)];
}

/**
 * What Base64 makes of a longer text with the secret in it, such as the `user:password` of Basic, a header or JSON.
 * Three bytes become four characters, so there are three alignments. The characters at the edges hold bits of what
 * stands beside the secret, and are left out: at most 4 bits of its first and last byte stay to be seen.
 */
function asInBase64(secret: string): readonly string[] {
  // A client's secret is encoded like a form before it becomes the password of Basic (RFC 6749, 2.3.1).
  const texts = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(inUnicode(secret)), formEncoded(secret)]);
  const byAlignment = [...texts].flatMap((text) => {
    const bytes = Buffer.from(text);
    return [0, 1, 2].map((lead) => {
      const characters = Buffer.concat([Buffer.alloc(lead), bytes]).toString("base64");
      return characters.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
    });
  });
  // The beginning and the end of a whole Basic password and of a token by itself leave nothing beside them.
  const whole = [`${secret}:`, `:${secret}`, secret].map((text) => Buffer.from(text).toString("base64"));
  return [...byAlignment, ...whole].flatMap((text) => {
    const inUrl = encodeURIComponent(text);
    return [text, text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""), inUrl, lowerEscapes(inUrl)];
  });
}

/** Byte by byte: hexadecimal, percent-encoded to the last letter, percent-encoded twice, and by the numbers of letters as some writers of JSON do. */
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

/** The second: in JSON that is a text of JSON. */
function asInJson(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [once, JSON.stringify(once).slice(1, -1)];
}

/** As each part of a URL has it, as a form does, which is what `URLSearchParams` writes, and as those who sign requests, and axios, encode it. */
function asInUrls(text: string): readonly string[] {
  const whole = inUnicode(text);
  const url = new URL("http://host/");
  Object.assign(url, { password: whole, pathname: whole, search: whole, hash: whole });
  const parts = [url.password, url.pathname.slice(1), url.search.slice(1), url.hash.slice(1)];
  // Of what names folders, such as ../orders, a path keeps a harmless word.
  const shortest = whole.replaceAll(/^[/?#]|[\t\r\n]/g, "").length;
  const encoded = encodeURIComponent(whole);
  const strict = encoded.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const lenient = encoded.replaceAll(/%3A|%24|%2C|%5B|%5D/g, decodeURIComponent).replaceAll("%20", "+");
  const forms = [encoded, strict, lenient, formEncoded(text), encodeURI(whole), ...parts.filter(({ length }) => length >= shortest)];
  return forms.flatMap((one) => [one, lowerEscapes(one)]);
}

/** As `application/x-www-form-urlencoded` has it. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/** With `%c3%a4` in place of `%C3%A4`. */
function lowerEscapes(text: string): string {
  return text.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
}

/** Half of a surrogate pair cannot be encoded: URLs have the replacement character in its place. */
function inUnicode(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\u{fffd}");
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
    if (typeof part === "number") return forms.has(String(part)) ? STARS : part;
    if (Array.isArray(part)) return part.map(hide);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [over(name), member === undefined ? member : hide(member)]));
  };
  return forms.size === 0 ? (value) => value : hide;
}

/** Texts of the fields that are secret, as their names say. */
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

/** All texts in a value. */
export function textsIn(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  addTexts(found, value, false);
  return found;
}

/** The same with its numbers, for what is declared to be secret: names alone say so of many numbers that are not. */
export function textsAndNumbersIn(value: JsonValue | undefined): string[] {
  const found: string[] = [];
  addTexts(found, value, true);
  return found;
}

function addTexts(found: string[], value: JsonValue | undefined, withNumbers: boolean): void {
  if (typeof value === "string" || (withNumbers && typeof value === "number")) found.push(String(value));
  else if (typeof value === "object" && value !== null) for (const member of Object.values(value)) addTexts(found, member, withNumbers);
}
