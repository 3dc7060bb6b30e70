import { formFieldBytes } from "../form.ts";
import { LIMITS, hasTooManyFields, isTooComplex } from "../limits.ts";
import type { HttpTrigger } from "../trigger.ts";
import { parseJson } from "../json.ts";
import { OLD_CHARSET, charsetByZeros, decodedText, fieldText, isCharset, isWideCharset, markedCharset, utf8Text, xmlCharset } from "./charset.ts";
import { readMultipart } from "./multipart.ts";
import { codingsOf, decompressed } from "./content-encoding.ts";
import { type ContentType, isJsonType, isTextType, readContentType } from "./content-type.ts";

/** What a component sees as `event.body`. */
export interface ReadBody {
  /** Absent: the request had none. */
  readonly body?: unknown;
  /** Sentences for the log: what could not be read as it was announced, or had to be guessed. */
  readonly notes: readonly string[];
}

type Sent = Pick<HttpTrigger, "headers" | "query" | "body" | "encoding">;

/**
 * Reads a body as the sender's headers announce it. What cannot be read stays as it was sent, text or bytes, and a note
 * says why. Rules of the hosted platform: JSON is read under any text type, a form keeps its names as they are.
 */
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

/** A body that the sender wants to be handed over as the address of a file, as on the hosted platform. */
function wantsUpload({ headers, query }: Sent): boolean {
  return headers["x-pd-upload-body"] === "1" || /(?:^|&)pipedream_upload_body=1(?:&|$)/.test(query);
}

/** The address of a file that holds these bytes itself. `type`: as in the header `Content-Type`. */
export function dataUrl(bytes: Buffer, type: string): string {
  return `data:${type === "" ? "application/octet-stream" : type.replaceAll(/[\s,]/g, "")};base64,${bytes.toString("base64")}`;
}

/** `sent`: text where it is UTF-8, else bytes. */
function readPlain(sent: string | Buffer, contentType: ContentType): ReadBody {
  const { type, parameters } = contentType;
  if (type === "multipart/form-data") return readMultipartForm(sent, parameters.get("boundary"));
  if (type === "application/x-www-form-urlencoded") return readForm(sent, parameters.get("charset"));
  const isJson = isJsonType(type);
  if (!isJson && !isTextType(contentType)) return { body: sent, notes: [] };
  const { text, problem } = textOf(sent, contentType);
  // Bytes that nobody has announced are no text.
  if (text === undefined) return { body: sent, notes: type === "" ? [] : [`The body cannot be read as ${type}: ${problem ?? ""}`] };
  if (isJson) return readJson(text);
  // Senders such as AWS SNS announce JSON as text. A number or a word stays the text that it is.
  if ((type !== "" && type !== "text/plain") || !/^\s*[[{]/.test(text)) return { body: text, notes: [] };
  if (isTooComplex(text)) return readJson(text);
  return parseJson(text) === undefined ? { body: text, notes: [] } : readJson(text);
}

/** In the charset that is announced, by the header, a mark or the text itself. */
function textOf(sent: string | Buffer, { type, parameters }: ContentType): { readonly text?: string; readonly problem?: string } {
  const named = parameters.get("charset");
  const isNamedUtf8 = named === undefined || /^utf-?8$/i.test(named);
  if (typeof sent === "string" && isNamedUtf8 && !sent.slice(0, 4).includes("\0") && !isOtherXml(sent, type)) return { text: withoutMark(sent) };
  const bytes = typeof sent === "string" ? Buffer.from(sent) : sent;
  // Programs that keep their strings in UTF-16 say so, and send UTF-8.
  const isNoneOfIt = named !== undefined && isWideCharset(named) && typeof sent === "string" && !sent.includes("\0");
  const announced = isNoneOfIt ? undefined : named;
  const label = markedCharset(bytes) ?? announced ?? (type.endsWith("xml") ? xmlCharset(bytes) : undefined) ?? charsetByZeros(bytes) ?? "utf-8";
  const text = decodedText(bytes, label);
  if (text !== undefined) return { text };
  return { problem: isCharset(label) ? `it is not in the charset ${label}` : `the charset ${JSON.stringify(label)} is not known here` };
}

/** Text that a document declares to be of another charset may be UTF-8 by chance. */
function isOtherXml(text: string, type: string): boolean {
  return type.endsWith("xml") && !/^utf-?8$/i.test(xmlCharset(Buffer.from(text.slice(0, 300))) ?? "utf-8");
}

function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function readJson(text: string): ReadBody {
  if (text.trim() === "") return { body: text, notes: [] };
  if (isTooComplex(text)) return { body: text, notes: [`The body is JSON with more than ${LIMITS.members} members, or ${LIMITS.depth} levels: it stays text`] };
  try {
    const body: unknown = JSON.parse(text);
    const lost = numberThatIsLost(text);
    return { body, notes: lost === undefined ? [] : [`The body has the number ${lost}, which has more digits than JavaScript keeps: bodyRaw has them`] };
  } catch (error) {
    return { body: text, notes: [`The body cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** A whole number that is another one once it is parsed. */
function numberThatIsLost(text: string): string | undefined {
  for (const [, digits = ""] of text.matchAll(/[[:,]\s*(-?\d{16,400})(?=\s*[,\]}])/g))
    if (BigInt(digits) !== BigInt(Number(digits))) return digits.slice(0, 40);
  return undefined;
}

/** A flat object: brackets stay in the names. */
function readForm(sent: string | Buffer, named: string | undefined): ReadBody {
  const bytes = typeof sent === "string" ? Buffer.from(withoutMark(sent)) : sent;
  if (hasTooManyFields(bytes.toString("latin1")))
    return { body: sent, notes: [`The body is a form with more than ${LIMITS.fields} fields: it stays as it is`] };
  const fields = formFieldBytes(bytes);
  const labels = [named, fieldOf(fields, "_charset_")].filter(isFormCharset);
  if (named !== undefined && !isCharset(named))
    return { body: sent, notes: [`The body cannot be read as a form: the charset ${JSON.stringify(named)} is not known here`] };
  // PayPal says so what its form is. A field of this name may be anything: where the form is UTF-8 it says nothing.
  const own = fieldOf(fields, "charset");
  const isOwn = isFormCharset(own) && (/^iso-2022/i.test(own) || !fields.every((pair) => pair.every((part) => utf8Text(part) !== undefined)));
  const { fields: body, isGuessed } = readFields(fields, isOwn ? [...labels.filter((label) => !/^utf-?8$/i.test(label)), own] : labels);
  return { body, notes: isGuessed ? [`The body is a form that is neither UTF-8 nor what it says, and was read as ${OLD_CHARSET}`] : [] };
}

/** The names of a form are ASCII, so it is of no charset that has more than a byte for those. */
function isFormCharset(label: string | undefined): label is string {
  return label !== undefined && isCharset(label) && !isWideCharset(label);
}

function fieldOf(fields: readonly (readonly [name: Buffer, value: Buffer])[], wanted: string): string | undefined {
  return fields.find(([name]) => name.toString("latin1") === wanted)?.[1].toString("latin1");
}

/** The query of an address. */
export function readQuery(query: string): { readonly fields: Record<string, string | string[]>; readonly notes: readonly string[] } {
  const { fields, isGuessed } = readFields(formFieldBytes(Buffer.from(query)), []);
  return { fields, notes: isGuessed ? [`The query is not UTF-8, and was read as ${OLD_CHARSET}`] : [] };
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
    notes: form.isGuessed ? [`The body has text that is neither UTF-8 nor what it says, and was read as ${OLD_CHARSET}`] : [],
  };
}

/** A name given several times becomes a list. Names such as `__proto__` are names like all others. */
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
