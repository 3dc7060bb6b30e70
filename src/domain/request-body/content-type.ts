import { decodedText } from "./charset.ts";

export interface ContentType {
  /** In lower case, without parameters. Empty when missing. */
  readonly type: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Tolerates spaces instead of semicolons, quotes, and a repeated header. */
export function readContentType(header = ""): ContentType {
  const [whole = "", type = ""] = /^[\s"']*([\w!#$&^.+*-]+\/[\w!#$&^.+*-]+)/.exec(header) ?? [];
  const [, bare = ""] = type === "" ? (/^\s*([^\s;,]+)/.exec(header) ?? []) : [];
  return { type: (type === "" ? bare : type).toLowerCase(), parameters: headerParameters(header.slice(whole.length)) };
}

/** The lookbehind and the limits prevent quadratic time for a header full of spaces. */
const PARAMETER = /(?<![\w!#$&^.+*'-])([\w!#$&^.+*'-]+)[ \t]{0,8}=[ \t]{0,8}(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^;,]*))/g;

/** The first of a name counts. Extended parameters (RFC 2231, RFC 8187: `name*0`, `name*`) win. */
export function headerParameters(text: string): ReadonlyMap<string, string> {
  const plain = new Map<string, string>();
  for (const [, name = "", quoted, apostrophes, bare = ""] of text.matchAll(PARAMETER)) {
    // Old browsers send a whole Windows path, so other backslashes stay.
    const value = quoted === undefined ? (apostrophes ?? bare.trim()) : quoted.replaceAll(/\\(["\\])/g, "$1");
    if (!plain.has(name.toLowerCase())) plain.set(name.toLowerCase(), value);
  }
  const names = new Set([...plain.keys()].map((name) => name.replace(/\*.*$/, "")));
  return new Map([...names].map((name) => [name, extended(plain, name) ?? plain.get(name) ?? ""]));
}

function extended(plain: ReadonlyMap<string, string>, name: string): string | undefined {
  const whole = plain.get(`${name}*`);
  if (whole !== undefined) return withCharset([{ text: whole, isEncoded: true }]);
  const parts: { readonly text: string; readonly isEncoded: boolean }[] = [];
  for (let place = 0; ; place++) {
    const [encoded, text] = [plain.get(`${name}*${place}*`), plain.get(`${name}*${place}`)];
    if (encoded === undefined && text === undefined) return parts.length === 0 ? undefined : withCharset(parts);
    parts.push({ text: encoded ?? text ?? "", isEncoded: encoded !== undefined });
  }
}

/** Decodes `charset'language'text%20with%20bytes`. */
function withCharset(parts: readonly { readonly text: string; readonly isEncoded: boolean }[]): string {
  const [, charset = "utf-8"] = parts[0]?.isEncoded === true ? (/^([^']*)'[^']*'/.exec(parts[0].text) ?? []) : [];
  const bytes = parts.map(({ text, isEncoded }, place) => {
    if (!isEncoded) return Buffer.from(text);
    const escaped = place === 0 ? text.replace(/^[^']*'[^']*'/, "") : text;
    return Buffer.from(
      escaped.replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      "latin1",
    );
  });
  const all = Buffer.concat(bytes);
  return decodedText(all, charset) ?? all.toString("latin1");
}

const JSON_TYPES = /^(?:application|text)\/(?:x-)?json$|^application\/(?:csp-report|json-rpc|jsonrequest|x-amz-json-[\d.]+)$|\+json$/;

export function isJsonType(type: string): boolean {
  return JSON_TYPES.test(type);
}

export function isTextType({ type, parameters }: ContentType): boolean {
  if (/octet-stream|^(?:image|audio|video|font)\/(?!svg)|\/(?:pdf|zip|gzip|x-protobuf|protobuf|msgpack)$/.test(type)) return false;
  return type === "" || type.startsWith("text/") || type.endsWith("xml") || /javascript|ecmascript|graphql|yaml|json/.test(type) || parameters.has("charset");
}
