import { fstatSync, writeSync } from "node:fs";
import { codeOf } from "../domain/errors.ts";

/** The result returns the first write error, except for a closed pipe, as from `head`. */
export function watchOutput(stdout: NodeJS.WriteStream): () => unknown {
  let failure: unknown;
  stdout.on("error", (error) => {
    if (codeOf(error) !== "EPIPE") failure ??= error;
  });
  if ("fd" in stdout && typeof stdout.fd === "number" && isFile(stdout.fd)) writeWhole(stdout, stdout.fd);
  return () => failure;
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    // The next write fails.
    return false;
  }
}

/** When a full disk takes part of a chunk, Node drops the rest silently. */
function writeWhole(stream: NodeJS.WriteStream, fd: number): void {
  const write = (chunk: Uint8Array, _encoding: unknown, done: (error?: unknown) => void): void => {
    try {
      for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
    } catch (error) {
      return done(error);
    }
    done();
  };
  Object.assign(stream, { _write: write });
}
