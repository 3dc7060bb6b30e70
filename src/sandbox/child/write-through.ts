import fs from "node:fs";
import { codeOf } from "../../domain/errors.ts";

/**
 * How often it is tried while the other side reads nothing: two seconds at least. What a process that ends has not written by
 * then is lost, and a server with other work, on a machine with other work, may read nothing for tens of milliseconds.
 */
const MOST_TRIES = 10_000;
const TRY_AGAIN_MS = 0.2;
/** As it is before a component replaces it. */
const { writeSync } = fs;
/** Made when it is first waited on: a snapshot holds no shared memory. */
let never: Int32Array<SharedArrayBuffer> | undefined;

/**
 * Writes straight to a file descriptor of a pipe: waits while the pipe is full, as long as the other side reads on.
 * Returns how many bytes have left.
 */
export function writeThrough(fd: number, bytes: Uint8Array): number {
  let written = 0;
  for (let tries = 0; written < bytes.length && tries < MOST_TRIES; tries++) {
    const count = tryToWrite(fd, bytes, written);
    if (count === undefined) break;
    if (count > 0) tries = 0;
    written += count;
    if (written < bytes.length) waitALittle();
  }
  return written;
}

function waitALittle(): void {
  never ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(never, 0, 0, TRY_AGAIN_MS);
}

/** `undefined`: no more can be written, of which the stream tells. */
function tryToWrite(fd: number, bytes: Uint8Array, from: number): number | undefined {
  try {
    return writeSync(fd, bytes, from);
  } catch (error) {
    return codeOf(error) === "EAGAIN" ? 0 : undefined;
  }
}
