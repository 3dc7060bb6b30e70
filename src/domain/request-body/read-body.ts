import { formFieldBytes } from "../text/form.ts";
import { LIMITS, hasTooManyFields, isTooComplex } from "../limits.ts";
import type { HttpTrigger } from "../run/trigger.ts";
import { parseJson } from "../text/json.ts";
import { OLD_CHARSET, charsetByZeros, decodedText, fieldText, isCharset, isWideCharset, markedCharset, utf8Text, xmlCharset } from "./charset.ts";
import { readMultipart } from "./multipart.ts";
import { codingsOf, decompressed } from "./content-encoding.ts";
import { type ContentType, isJsonType, isTextType, readContentType } from "./content-type.ts";

export interface ReadBody {
  /** Omitted when the request had no body. */
  readonly body?: unknown;
  /** For the log: what could not be read as declared, or was guessed. */
  readonly notes: readonly string[];
}

type Sent = Pick<HttpTrigger, "headers" | "query" | "body" | "encoding">;

/** A body that cannot be read as declared stays as it was sent, with a note. As on the hosted platform, JSON in plain text is parsed. */
export async function readBody(sent: Sent): Promise<ReadBody> {
  if (sent.body === "") return { notes: [] };
  const contentType = readContentType(sent.headers["content-type"]);
  const codings = codingsOf(sent.headers["content-encoding"]);
  if (wantsUpload(sent)) return { body: { raw_body_url: dataUrl(bytesOf(sent), contentType.type) }, notes: [] };
  if (codings.length === 0) return readPlain(sent.encoding === "utf8" ? sent.body : bytesOf(sent), contentType);
  const plain = await decompressed(bytesOf(sent), codings);
  if (!("problem" in plain)) return readPlain(utf8Text(plain) ?? plain, contentType);
  const { body, notes } = readPlain(sent.encoding === "utf8" ? sent.body : bytesOf(sent), contentType);
  return { body, notes: [`The body cannot be decoded (content-encoding: ${codings.join(", ")}): ${plain.problem}`, ...notes] };
}

function bytesOf({ body, encoding }: Pick<Sent, "body" | "encoding">): Buffer {
  return Buffer.from(body, encoding);
}

/** A sender may ask for the body as a file's URL, as on the hosted platform. */
function wantsUpload({ headers, query }: Sent): boolean {
  return headers["x-pd-upload-body"] === "1" || /(?:^|&)pipedream_upload_body=1(?:&|$)/.test(query);
}

export function dataUrl(bytes: Buffer, type: string): string {
  return `data:${type === "" ? "application/octet-stream" : type.replaceAll(/[\s,]/g, "")};base64,${bytes.toString("base64")}`;
}

/** `sent` is a string when it is UTF-8. */
function readPlain(sent: string | Buffer, contentType: ContentType): ReadBody {
  const { type, parameters } = contentType;
  if (type === "multipart/form-data") return readMultipartForm(sent, parameters.get("boundary"));
  if (type === "application/x-www-form-urlencoded") return readForm(sent, parameters.get("charset"));
  const isJson = isJsonType(type);
  if (!isJson && !isTextType(contentType)) return { body: sent, notes: [] };
  const { text, problem } = textOf(sent, contentType);
  // Bytes without a declared type need no note.
  if (text === undefined) return { body: sent, notes: type === "" ? [] : [`The body cannot be read as ${type}: ${problem ?? ""}`] };
  if (isJson) return readJson(text);
  // Senders such as AWS SNS declare JSON as text. A number or word stays text.
  if ((type !== "" && type !== "text/plain") || !/^\s*[[{]/.test(text)) return { body: text, notes: [] };
  if (isTooComplex(text)) return readJson(text);
  return parseJson(text) === undefined ? { body: text, notes: [] } : readJson(text);
}

/** The charset comes from a byte-order mark, the header, or the text itself. */
function textOf(sent: string | Buffer, { type, parameters }: ContentType): { readonly text?: string; readonly problem?: string } {
  const named = parameters.get("charset");
  const isNamedUtf8 = named === undefined || /^utf-?8$/i.test(named);
  if (typeof sent === "string" && isNamedUtf8 && !sent.slice(0, 4).includes("\0") && !isOtherXml(sent, type)) return { text: withoutMark(sent) };
  const bytes = typeof sent === "string" ? Buffer.from(sent) : sent;
  // Some programs declare UTF-16 and send UTF-8.
  const isNoneOfIt = named !== undefined && isWideCharset(named) && typeof sent === "string" && !sent.includes("\0");
  const announced = isNoneOfIt ? undefined : named;
  const label = markedCharset(bytes) ?? announced ?? (type.endsWith("xml") ? xmlCharset(bytes) : undefined) ?? charsetByZeros(bytes) ?? "utf-8";
  const text = decodedText(bytes, label);
  if (text !== undefined) return { text };
  return { problem: isCharset(label) ? `it is not valid ${label}` : `the charset ${JSON.stringify(label)} is not supported` };
}

/** The text may be UTF-8 by chance. */
function isOtherXml(text: string, type: string): boolean {
  return type.endsWith("xml") && !/^utf-?8$/i.test(xmlCharset(Buffer.from(text.slice(0, 300))) ?? "utf-8");
}

function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function readJson(text: string): ReadBody {
  if (text.trim() === "") return { body: text, notes: [] };
  if (isTooComplex(text))
    return { body: text, notes: [`The body is JSON with more than ${LIMITS.members} members or ${LIMITS.depth} levels: it stays a string`] };
  try {
    const body: unknown = JSON.parse(text);
    const lost = numberThatIsLost(text);
    return { body, notes: lost === undefined ? [] : [`The body has the number ${lost}, which JavaScript rounds: bodyRaw has all its digits`] };
  } catch (error) {
    return { body: text, notes: [`The body cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** Returns an integer that JavaScript would round. */
function numberThatIsLost(text: string): string | undefined {
  for (const [, digits = ""] of text.matchAll(/[[:,]\s*(-?\d{16,400})(?=\s*[,\]}])/g))
    if (BigInt(digits) !== BigInt(Number(digits))) return digits.slice(0, 40);
  return undefined;
}

/** Brackets stay in the names. */
function readForm(sent: string | Buffer, named: string | undefined): ReadBody {
  const bytes = typeof sent === "string" ? Buffer.from(withoutMark(sent)) : sent;
  if (hasTooManyFields(bytes.toString("latin1")))
    return { body: sent, notes: [`The body is a form with more than ${LIMITS.fields} fields: it stays unparsed`] };
  const fields = formFieldBytes(bytes);
  const labels = [named, fieldOf(fields, "_charset_")].filter(isFormCharset);
  if (named !== undefined && !isCharset(named))
    return { body: sent, notes: [`The body cannot be read as a form: the charset ${JSON.stringify(named)} is not supported`] };
  // PayPal names its charset here. In other forms this field may mean anything, so it is ignored when the form is
  // UTF-8. ISO-2022 always looks like UTF-8.
  const own = fieldOf(fields, "charset");
  const isOwn = isFormCharset(own) && (/^iso-2022/i.test(own) || !fields.every((pair) => pair.every((part) => utf8Text(part) !== undefined)));
  const { fields: body, isGuessed } = readFields(fields, isOwn ? [...labels.filter((label) => !/^utf-?8$/i.test(label)), own] : labels);
  return { body, notes: isGuessed ? [`The body is a form that is neither UTF-8 nor in its declared charset: it was read as ${OLD_CHARSET}`] : [] };
}

/** Names in a form have one byte per character, so a wide charset is wrong. */
function isFormCharset(label: string | undefined): label is string {
  return label !== undefined && isCharset(label) && !isWideCharset(label);
}

function fieldOf(fields: readonly (readonly [name: Buffer, value: Buffer])[], wanted: string): string | undefined {
  return fields.find(([name]) => name.toString("latin1") === wanted)?.[1].toString("latin1");
}

export function readQuery(query: string): { readonly fields: Record<string, string | string[]>; readonly notes: readonly string[] } {
  const { fields, isGuessed } = readFields(formFieldBytes(Buffer.from(query)), []);
  return { fields, notes: isGuessed ? [`The query is not UTF-8: it was read as ${OLD_CHARSET}`] : [] };
}

function readFields(
  fields: readonly (readonly [name: Buffer, value: Buffer])[],
  labels: readonly string[],
): { readonly fields: Record<string, string | string[]>; readonly isGuessed: boolean } {
  let isGuessed = false;
  const read = (part: Buffer): string => {
    const told = fieldText(part, labels);
    isGuessed ||= told.isGuessed;
    return told.text;
  };
  const all = grouped(fields.map(([name, value]): [string, string] => [read(name), read(value)]));
  return { fields: all, isGuessed };
}

function readMultipartForm(sent: string | Buffer, boundary: string | undefined): ReadBody {
  const form = readMultipart(typeof sent === "string" ? Buffer.from(sent) : sent, boundary, LIMITS.fields);
  if ("problem" in form) return { body: sent, notes: [`The body cannot be read as multipart/form-data: ${form.problem}`] };
  return {
    body: grouped(form.fields),
    notes: form.isGuessed ? [`The body has text that is neither UTF-8 nor in its declared charset: it was read as ${OLD_CHARSET}`] : [],
  };
}

/** `Object.fromEntries` makes `__proto__` an ordinary name. */
function grouped<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value | Value[]> {
  const lists = new Map<string, Value[]>();
  for (const [name, value] of entries) {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries([...lists].map(([name, list]): [string, Value | Value[]] => [name, onlyOne(list)]));
}

function onlyOne<Value>(list: Value[]): Value | Value[] {
  const [first, ...others] = list;
  return first === undefined || others.length > 0 ? list : first;
}
