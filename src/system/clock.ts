import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { randomText } from "../domain/ids.ts";
import type { Clock } from "../ports/clock.ts";

/** Node's timers overflow beyond 24.8 days and then fire at once; longer sleeps are taken in parts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Asking the system for a few random bytes costs as much as asking for many. */
const POOL_SIZE = 4096;
let pool = new Uint8Array();
let used = 0;

function takeRandom(length: number): Uint8Array {
  if (used + length > pool.length) {
    pool = randomBytes(Math.max(POOL_SIZE, length));
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  randomText: (length) => randomText(takeRandom(length)),
  async sleepUntil(at, signal) {
    // So much time passes by a clock that nobody sets: one that is set back while this sleeps makes it no longer.
    const end = performance.now() + (at - Date.now());
    while (!signal.aborted) {
      const left = Math.min(at - Date.now(), end - performance.now());
      // No number is no time to wait for.
      if (!(left > 0)) return;
      await sleep(Math.min(left, LONGEST_TIMER_MS), signal);
    }
  },
};

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    // All that a server waits for may listen to the signal that ends it.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", done);
  });
}
