import { fstatSync, writeSync } from "node:fs";
import { codeOf } from "../domain/errors.ts";

/**
 * What a command prints must get to where it was sent, or the command has failed. Returns what has kept it from that, if
 * anything has. A reader that has gone away, as `head` does, is none.
 */
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
    // It is closed: writing tells so.
    return false;
  }
}

/** Of what a full disk takes in part Node writes that part, and gives up the rest without a word. */
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
