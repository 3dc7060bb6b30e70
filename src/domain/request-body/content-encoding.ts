import { LIMITS } from "../limits.ts";

interface Options {
  readonly maxOutputLength: number;
}

type Decompress = (bytes: Buffer, options: Options) => Promise<Buffer>;

/** Node's own functions are asked for when a body is compressed: most never are, and a process that waits would have them in its memory. */
function zlibFunction(name: string): Decompress | undefined {
  // oxlint-disable-next-line no-restricted-globals -- it computes and does nothing else; a port for it would go through six files
  const found: unknown = Reflect.get(process.getBuiltinModule("node:zlib"), name);
  if (typeof found !== "function") return undefined;
  return (bytes, options) =>
    new Promise((resolve, reject) => {
      found(bytes, options, (error: Error | null, plain: Buffer) => (error === null ? resolve(plain) : reject(error)));
    });
}

/** zlib with its header, as the standard has it, or without, as some clients send it. */
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

/** Node has zstd from 22.15 on. */
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

/** What clients write there although nothing is compressed. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8", "binary", "7bit", "8bit"]);
const MOST_CODINGS = 4;

/** Names of codings in the order in which they were applied. */
export function codingsOf(header = ""): readonly string[] {
  return header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !PLAIN.has(name));
}

/** The bytes as they were before they were compressed, or why that cannot be said. */
export async function decompressed(bytes: Buffer, codings: readonly string[]): Promise<Buffer | { readonly problem: string }> {
  if (codings.length > MOST_CODINGS) return { problem: `it has ${codings.length} encodings, and may have ${MOST_CODINGS}` };
  let plain = bytes;
  for (const name of codings.toReversed()) {
    const decompress = decompressOf(name);
    if (decompress === undefined) return { problem: `${JSON.stringify(name)} is not known here` };
    try {
      plain = await decompress(plain, { maxOutputLength: LIMITS.body });
    } catch (error) {
      if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") return { problem: `it comes to more than ${LIMITS.body} bytes` };
      return { problem: `it is not ${name} (${error instanceof Error ? error.message : String(error)})` };
    }
  }
  return plain;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
