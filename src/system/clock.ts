import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { randomText } from "../domain/ids.ts";
import type { Clock } from "../ports/clock.ts";

/** 24.8 days. Longer Node timers fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A few random bytes cost as much as many. */
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
    // Setting the system clock back must not prolong the sleep.
    const end = performance.now() + (at - Date.now());
    while (!signal.aborted) {
      const left = Math.min(at - Date.now(), end - performance.now());
      // Also returns when `at` is NaN.
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
    setMaxListeners(0, signal);
    signal.addEventListener("abort", done);
  });
}
