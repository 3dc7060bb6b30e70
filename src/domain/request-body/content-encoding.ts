import { LIMITS } from "../limits.ts";

interface Options {
  readonly maxOutputLength: number;
}

type Decompress = (bytes: Buffer, options: Options) => Promise<Buffer>;

/** Loads zlib on demand, to save memory in idle processes. */
function zlibFunction(name: string): Decompress | undefined {
  // oxlint-disable-next-line no-restricted-globals -- it computes and does nothing else; a port for it would go through six files
  const found: unknown = Reflect.get(process.getBuiltinModule("node:zlib"), name);
  if (typeof found !== "function") return undefined;
  return (bytes, options) =>
    new Promise((resolve, reject) => {
      found(bytes, options, (error: Error | null, plain: Buffer) => (error === null ? resolve(plain) : reject(error)));
    });
}

/** Some clients omit the zlib header that the standard requires. */
async function inflate(bytes: Buffer, options: Options): Promise<Buffer> {
  try {
    return await callOf("inflate")(bytes, options);
  } catch (error) {
    if (codeOf(error) !== "Z_DATA_ERROR") throw error;
    return callOf("inflateRaw")(bytes, options);
  }
}

function callOf(name: string): Decompress {
  const found = zlibFunction(name);
  if (found === undefined) throw new Error(`Node has no ${name}`);
  return found;
}

/** zstd requires Node 22.15. */
function decompressOf(coding: string): Decompress | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return zlibFunction("gunzip");
    case "deflate":
      return inflate;
    case "br":
      return zlibFunction("brotliDecompress");
    case "zstd":
      return zlibFunction("zstdDecompress");
    default:
      return undefined;
  }
}

/** Clients send these for bodies that are not compressed. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8", "binary", "7bit", "8bit"]);
const MOST_CODINGS = 4;

/** In the order of application. */
export function codingsOf(header = ""): readonly string[] {
  return header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !PLAIN.has(name));
}

export async function decompressed(bytes: Buffer, codings: readonly string[]): Promise<Buffer | { readonly problem: string }> {
  if (codings.length > MOST_CODINGS) return { problem: `it has ${codings.length} encodings, more than the limit of ${MOST_CODINGS}` };
  let plain = bytes;
  for (const name of codings.toReversed()) {
    const decompress = decompressOf(name);
    if (decompress === undefined) return { problem: `${JSON.stringify(name)} is not supported` };
    try {
      plain = await decompress(plain, { maxOutputLength: LIMITS.body });
    } catch (error) {
      if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") return { problem: `it is larger than ${LIMITS.body} bytes` };
      return { problem: `it is not valid ${name} (${error instanceof Error ? error.message : String(error)})` };
    }
  }
  return plain;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
