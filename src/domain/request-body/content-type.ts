/** The header `Content-Type`, as far as a body can be read by it. */
export interface ContentType {
  /** In lower case, without parameters. Empty when there is none. */
  readonly type: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const PARAMETER = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;,]*))/g;

/** Reads what clients send, also when it is not quite right: spaces anywhere, no quotes, a header that came twice. */
export function readContentType(header = ""): ContentType {
  const [type = ""] = header.split(/[;,]/, 1);
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of header.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain.trim() : quoted.replaceAll(/\\(.)/g, "$1"));
  }
  return { type: type.trim().toLowerCase(), parameters };
}

const JSON_TYPES = /^(?:application|text)\/(?:x-)?json$|^application\/(?:csp-report|x-amz-json-[\d.]+)$|\+json$/;

export function isJsonType(type: string): boolean {
  return JSON_TYPES.test(type);
}

/** Text whose characters are of a charset. Anything else that is text is UTF-8. */
export function isTextType(type: string): boolean {
  return type === "" || type.startsWith("text/") || type.endsWith("xml") || /javascript|ecmascript|graphql|yaml|json/.test(type);
}
