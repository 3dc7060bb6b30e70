import { randomBytes } from "node:crypto";
import { randomText } from "../domain/ids.ts";
import type { Clock } from "../ports/clock.ts";

/** Node's timers overflow beyond 24.8 days and then fire at once; longer sleeps are taken in parts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  randomText: (length) => randomText(randomBytes(length)),
  async sleepUntil(at, signal) {
    while (!signal.aborted) {
      const left = at - Date.now();
      if (left <= 0) return;
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
    signal.addEventListener("abort", done);
  });
}
