import type { Clock } from "../../ports/clock.ts";
import { PdError } from "../../domain/errors.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

/** The store may have written it or not: the answer was lost. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_IN_DOUBT";
}

/**
 * Asks the store for what may be asked again, with the same values, until it answers. Throws PD_IN_DOUBT when the server
 * stops before; what anything else throws is an answer.
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
