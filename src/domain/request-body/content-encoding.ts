import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { LIMITS } from "../limits.ts";

type Decompress = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** zlib with its header, as the standard has it, or without, as some clients send it. */
const inflate: Decompress = async (bytes, options) => {
  try {
    return await promisify(zlib.inflate)(bytes, options);
  } catch (error) {
    if (codeOf(error) !== "Z_DATA_ERROR") throw error;
    return promisify(zlib.inflateRaw)(bytes, options);
  }
};
const gunzip: Decompress = (bytes, options) => promisify(zlib.gunzip)(bytes, options);

/** Node has zstd from 22.15 on. */
const zstdOfNode: unknown = Reflect.get(zlib, "zstdDecompress");
const zstd: Decompress | undefined =
  typeof zstdOfNode === "function"
    ? (bytes, options) =>
        new Promise((resolve, reject) => {
          zstdOfNode(bytes, options, (error: Error | null, plain: Buffer) => (error === null ? resolve(plain) : reject(error)));
        })
    : undefined;

const DECOMPRESS: Readonly<Record<string, Decompress | undefined>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: inflate,
  br: (bytes, options) => promisify(zlib.brotliDecompress)(bytes, options),
  zstd,
};
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
    const decompress = Object.hasOwn(DECOMPRESS, name) ? DECOMPRESS[name] : undefined;
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
