import type { Clock } from "../../../ports/clock.ts";
import { PdError } from "../../../domain/errors.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

/** The write may or may not have happened. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_IN_DOUBT";
}

/**
 * `ask` must be safe to repeat. Throws PD_IN_DOUBT when the server stops first. Any other error counts as an answer and
 * is thrown.
 */
export async function untilKnown<Value>({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }, ask: () => Promise<Value>): Promise<Value> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!isInDoubt(error) || signal.aborted) throw error;
      await clock.sleepUntil(clock.now() + pauseMs, signal);
    }
  }
}
