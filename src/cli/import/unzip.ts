import { readFile, stat } from "node:fs/promises";
import { unzipSync } from "fflate";
import { PdError, messageOf } from "../../domain/errors.ts";

/** The hosted platform's limit for an archive. */
const MOST_BYTES = 268_435_456;
const MOST_FILES = 20_000;

/** Path → text. Throws PD_BAD_INPUT. */
export async function unzipped(path: string): Promise<ReadonlyMap<string, string>> {
  const refused = (reason: string, cause?: unknown): PdError => new PdError("PD_BAD_INPUT", `Cannot read the archive ${path}: ${reason}`, { cause });
  if ((await stat(path)).size > MOST_BYTES) throw refused(`it has more than ${MOST_BYTES} bytes`);
  let [bytes, files] = [0, 0];
  try {
    const entries = unzipSync(await readFile(path), {
      filter: ({ name, originalSize }) => {
        bytes += originalSize;
        files++;
        if (bytes > MOST_BYTES || files > MOST_FILES) throw refused(`it unpacks to more than ${MOST_BYTES} bytes or ${MOST_FILES} files`);
        return !name.endsWith("/");
      },
    });
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return new Map(Object.entries(entries).map(([name, content]) => [name, decoder.decode(content)]));
  } catch (error) {
    if (error instanceof PdError) throw error;
    throw refused(messageOf(error), error);
  }
}
