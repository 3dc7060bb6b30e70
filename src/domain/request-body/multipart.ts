import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { OLD_CHARSET, fieldText, isCharset } from "./charset.ts";

/** A file of a form, with its bytes in a data URL. */
export interface FormFile {
  readonly filename: string;
  readonly mimetype: string;
  readonly url: string;
}

export interface ReadForm {
  readonly fields: readonly (readonly [name: string, value: string | FormFile])[];
  /** What had to be guessed to read it. */
  readonly note?: string;
}

interface Part {
  readonly head: Buffer;
  readonly content: Buffer;
}

const [LF, CR, DASH, SPACE, TAB] = [10, 13, 45, 32, 9];
const MOST_HEAD = 16_384;

/** Fields and files of `multipart/form-data`, or why there are none. `boundary`: as the header has it; absent: as the first line has it. */
export async function readMultipart(bytes: Buffer, boundary: string | undefined, mostParts: number): Promise<ReadForm | { readonly problem: string }> {
  const mark = boundary ?? firstLineMark(bytes);
  if (mark === undefined || mark === "") return { problem: "it names no boundary" };
  const parts = partsOf(bytes, mark, mostParts);
  if ("problem" in parts) return parts;
  const charset = parts.map(formCharset).find((label) => label !== undefined);
  const own = freeMark(bytes);
  const cleaned = parts.map((part) => cleanPart(part, { mark: own, charset }));
  const fields = await fieldsOf(Buffer.concat([...cleaned.map((part) => part.bytes), Buffer.from(`--${own}--\r\n`)]), own, parts.length);
  const isGuessed = cleaned.some((part) => part.isGuessed);
  return { fields, ...(isGuessed ? { note: `it is neither UTF-8 nor says what it is, and was read as ${OLD_CHARSET}` } : {}) };
}

/** What a field of this name says of all others (HTML, "multipart/form-data"). */
function formCharset({ head, content }: Part): string | undefined {
  if (!/;\s*name\s*=\s*"?_charset_"?/i.test(head.toString("latin1"))) return undefined;
  const label = content.toString("latin1").trim();
  return isCharset(label) ? label : undefined;
}

/** A boundary that the bytes do not contain anywhere. */
function freeMark(bytes: Buffer): string {
  for (let count = 0; ; count++) if (!bytes.includes(`headwater-${count}`)) return `headwater-${count}`;
}

interface Cleaning {
  readonly mark: string;
  /** Of the form. */
  readonly charset: string | undefined;
}

/** The part as the library wants it: its headers in UTF-8 and complete, the charset of its text named. */
function cleanPart({ head, content }: Part, { mark, charset }: Cleaning): { readonly bytes: Buffer; readonly isGuessed: boolean } {
  const told = fieldText(head, undefined);
  // A line that begins with a space goes on the one before.
  const given = told.text
    .replaceAll(/\r*\n[ \t]+/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  // Some clients leave it out, or write "attachment".
  const disposition = given.find((line) => DISPOSITION.test(line)) ?? "Content-Disposition: form-data";
  const type = given.find((line) => /^content-type\s*:/i.test(line)) ?? "Content-Type: text/plain";
  const others = given.filter((line) => /^content-transfer-encoding\s*:/i.test(line));
  const isText = !/;\s*filename\*?\s*=/i.test(disposition) && !/;\s*charset\s*=/i.test(type) && !/octet-stream/i.test(type);
  const isOld = isText && charset === undefined && !isUtf8(content);
  const label = isOld ? OLD_CHARSET : isText ? charset : undefined;
  const lines = [disposition.replace(DISPOSITION, "Content-Disposition: form-data"), label === undefined ? type : `${type}; charset=${label}`, ...others];
  return {
    bytes: Buffer.concat([Buffer.from(`--${mark}\r\n${lines.join("\r\n")}\r\n\r\n`), content, Buffer.from("\r\n")]),
    isGuessed: isOld || told.isGuessed,
  };
}

const DISPOSITION = /^content-disposition\s*:\s*[^;]*/i;

function firstLineMark(bytes: Buffer): string | undefined {
  const line = /^--([^\r\n]{1,70})\r?\n/.exec(bytes.subarray(0, 80).toString("latin1"));
  return line?.[1]?.trimEnd();
}

/** Split at the lines that are the boundary, whichever way they end. Works through the bytes once. */
function partsOf(bytes: Buffer, boundary: string, mostParts: number): readonly Part[] | { readonly problem: string } {
  const mark = Buffer.from(`--${boundary}`);
  const parts: Part[] = [];
  let isWindows: boolean | undefined;
  let began = -1;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) {
    const line = delimiterAt(bytes, at, mark.length);
    if (line === undefined || (isWindows === true && at > 0 && bytes[at - 2] !== CR)) continue;
    isWindows ??= line.isWindows;
    if (began >= 0) parts.push(partOf(bytes.subarray(began, Math.max(began, at - (isWindows ? 2 : 1)))));
    if (parts.length > mostParts) return { problem: `it has more than ${mostParts} parts` };
    if (line.isLast) return parts;
    began = line.end;
  }
  return { problem: began < 0 ? "its boundary is nowhere in it" : "it ends in the middle of a part" };
}

/** A boundary stands at the beginning of a line, and nothing else is in that line. */
function delimiterAt(bytes: Buffer, at: number, length: number): { readonly end: number; readonly isLast: boolean; readonly isWindows: boolean } | undefined {
  if (at > 0 && bytes[at - 1] !== LF) return undefined;
  let end = at + length;
  const isClosing = bytes[end] === DASH && bytes[end + 1] === DASH;
  if (isClosing) end += 2;
  while (bytes[end] === SPACE || bytes[end] === TAB) end++;
  if (end >= bytes.length) return { end, isLast: true, isWindows: bytes[at - 2] === CR };
  const isWindows = bytes[end] === CR && bytes[end + 1] === LF;
  if (isWindows) return { end: end + 2, isLast: isClosing, isWindows };
  return bytes[end] === LF ? { end: end + 1, isLast: isClosing, isWindows } : undefined;
}

function partOf(bytes: Buffer): Part {
  // It may have no headers at all.
  for (let at = bytes.indexOf(LF); at >= 0 && at < MOST_HEAD; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1;
    if (at <= 1 && bytes.subarray(0, at).every((byte) => byte === CR)) return { head: Buffer.alloc(0), content: bytes.subarray(at + 1) };
    if (bytes[next] === LF) return { head: bytes.subarray(0, at), content: bytes.subarray(next + 1) };
  }
  return { head: bytes, content: Buffer.alloc(0) };
}

/** The library tells so of a file. Whatever its types say, a part may lack a name. */
type FileArguments = [name: string | undefined, stream: Readable, filename: string | undefined, encoding: string, mimetype: string];

function fieldsOf(bytes: Buffer, boundary: string, parts: number): Promise<ReadForm["fields"]> {
  return new Promise((resolve, reject) => {
    const fields: [string, string | FormFile][] = [];
    const limits = { fieldNameSize: bytes.length, fieldSize: bytes.length, fileSize: bytes.length + 1, fields: parts + 1, files: parts + 1, parts: parts + 1 };
    const reader = new Busboy({ headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, limits });
    reader.on("field", (name: string | undefined, value) => void fields.push([name ?? "", value]));
    reader.on("file", (...[name, stream, filename, encoding, mimetype]: FileArguments) => {
      const chunks: Buffer[] = [];
      const place = fields.push([name ?? "", ""]) - 1;
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.on("end", () => (fields[place] = [name ?? "", fileOf(Buffer.concat(chunks), { filename, encoding, mimetype })]));
    });
    reader.on("finish", () => resolve(fields));
    reader.on("error", reject);
    reader.end(bytes);
  });
}

function fileOf(bytes: Buffer, { filename = "", encoding, mimetype }: { filename: string | undefined; encoding: string; mimetype: string }): FormFile {
  const sent = bytes.toString("latin1");
  const isBase64 = /^base64$/i.test(encoding) && /^[\w+/=\s]*$/.test(sent);
  return { filename, mimetype, url: `data:${mimetype};base64,${isBase64 ? sent.replaceAll(/\s/g, "") : bytes.toString("base64")}` };
}
