import { type FieldText, fieldText, isCharset, isWideCharset } from "./charset.ts";
import { headerParameters, readContentType } from "./content-type.ts";

/** The bytes are in a data URL. */
export interface FormFile {
  readonly filename: string;
  readonly mimetype: string;
  readonly url: string;
}

export interface ReadForm {
  readonly fields: readonly (readonly [name: string, value: string | FormFile])[];
  /** No declared charset applied to some text. */
  readonly isGuessed: boolean;
}

interface Part {
  readonly head: Buffer;
  readonly content: Buffer;
}

const [LF, CR, DASH, SPACE, TAB] = [10, 13, 45, 32, 9];

/** `boundary` defaults to that of the first line. */
export function readMultipart(bytes: Buffer, boundary: string | undefined, mostParts: number): ReadForm | { readonly problem: string } {
  const mark = boundary ?? firstLineMark(bytes);
  if (mark === undefined || mark === "") return { problem: "it has no boundary" };
  const parts = partsOf(bytes, mark, mostParts);
  if ("problem" in parts) return parts;
  const fields = parts.map(fieldOf);
  // This field gives the charset of the others (HTML, "multipart/form-data").
  const charset = fields
    .find(({ name }) => name === "_charset_")
    ?.content.toString("latin1")
    .trim();
  const labels = charset !== undefined && isCharset(charset) && !isWideCharset(charset) ? [charset] : [];
  let isGuessed = fields.some((field) => field.isGuessed);
  const read = fields.map(({ name, filename, type, content }): [string, string | FormFile] => {
    if (filename !== undefined || type.type === "application/octet-stream") return [name, fileOf(content, { filename, type: type.type })];
    const named = type.parameters.get("charset");
    const told = fieldText(content, named === undefined ? labels : [named, ...labels]);
    isGuessed ||= told.isGuessed;
    return [name, told.text];
  });
  return { fields: read, isGuessed };
}

function fileOf(content: Buffer, { filename = "", type }: { filename: string | undefined; type: string }): FormFile {
  const mimetype = type === "" ? "text/plain" : type;
  return { filename, mimetype, url: `data:${mimetype};base64,${content.toString("base64")}` };
}

function firstLineMark(bytes: Buffer): string | undefined {
  const line = /^--([^\r\n]{1,70})\r?\n/.exec(bytes.subarray(0, 80).toString("latin1"));
  return line?.[1]?.trimEnd();
}

/** Accepts both line endings. */
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
  return { problem: began < 0 ? "it does not contain its boundary" : "it ends in the middle of a part" };
}

/** A boundary must be alone on its line. */
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

/** Headers end at the first empty line. */
function partOf(bytes: Buffer): Part {
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 ? bytes.length : found;
    if (end === from || (end === from + 1 && bytes[from] === CR)) return { head: bytes.subarray(0, from), content: bytes.subarray(end + 1) };
    from = end + 1;
  }
  return { head: bytes, content: Buffer.alloc(0) };
}

interface Field {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: ReturnType<typeof readContentType>;
  readonly content: Buffer;
  readonly isGuessed: boolean;
}

function fieldOf({ head, content }: Part): Field {
  const told: FieldText = fieldText(head, []);
  const headers = headersOf(told.text);
  const parameters = headerParameters(headers.get("content-disposition") ?? "");
  // Some clients send a path.
  const filename = parameters.get("filename")?.split(/[\\/]/).at(-1);
  const type = readContentType(headers.get("content-type"));
  const decoded = withoutTransferEncoding(content, headers.get("content-transfer-encoding"));
  return { name: parameters.get("name") ?? "", filename, type, content: decoded, isGuessed: told.isGuessed };
}

/** A header continues when the next line starts with a space or a quote is open. */
function headersOf(text: string): ReadonlyMap<string, string> {
  const headers: { readonly name: string; readonly lines: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const found: readonly string[] = isOpen || /^[ \t]/.test(line) ? [] : (/^([^\s:]+)[ \t]{0,8}:([^]*)$/.exec(line) ?? []);
    const [, name, value = ""] = found;
    if (name === undefined) headers.at(-1)?.lines.push(`${isOpen ? "\n" : " "}${line.trim()}`);
    else headers.push({ name: name.toLowerCase(), lines: [value.trim()] });
    const quotes = (name === undefined ? line : value).replaceAll('\\"', "").split('"').length - 1;
    isOpen = (name === undefined ? isOpen : false) !== (quotes % 2 === 1);
  }
  return new Map(headers.map(({ name, lines }) => [name, lines.join("")]));
}

/** Mail programs use these encodings. */
function withoutTransferEncoding(content: Buffer, encoding = ""): Buffer {
  const sent = content.toString("latin1");
  if (/^base64$/i.test(encoding) && /^[\w+/=\s]*$/.test(sent)) return Buffer.from(sent, "base64");
  if (!/^quoted-printable$/i.test(encoding)) return content;
  const bytes = sent.replaceAll(/=[ \t]*\r?\n/g, "").replaceAll(/=([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}
