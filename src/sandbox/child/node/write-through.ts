import fs from "node:fs";
import { codeOf } from "../../../domain/errors.ts";

/**
 * At least two seconds in which the other side reads nothing. A busy server may pause for tens of milliseconds, and an
 * ending process loses what it has not written.
 */
const MOST_TRIES = 10_000;
const TRY_AGAIN_MS = 0.2;
/** Taken before a component can replace it. */
const { writeSync } = fs;
/** A snapshot cannot contain shared memory. */
let never: Int32Array<SharedArrayBuffer> | undefined;

/** Waits while the pipe is full, if the other side keeps reading. Returns the bytes written. */
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

/** Undefined when nothing more can be written. The stream reports the error. */
function tryToWrite(fd: number, bytes: Uint8Array, from: number): number | undefined {
  try {
    return writeSync(fd, bytes, from);
  } catch (error) {
    return codeOf(error) === "EAGAIN" ? 0 : undefined;
  }
}
