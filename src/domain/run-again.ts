import type { RunResult } from "./invocation.ts";
import type { Trigger } from "./trigger.ts";

/** What is known of the tries so far of one trigger. */
export interface Tries {
  readonly count: number;
  /** How often its process ended while nothing else ran in it. */
  readonly deathsAlone: number;
}

/** Nothing interrupts a run that often unless it does so itself. */
export const MOST_TRIES = 10;
const DEATHS_FOR_BLAME = 2;

/**
 * Why a run does not count and is made again, by itself; `undefined`: its result stands. A run that was cut off is not
 * to blame; one whose process ended may have been hit from outside, or by what an earlier run had left there, so it is
 * blamed only when that has happened to it alone, twice. A timer's instant is never tried twice for that reason.
 */
export function reasonToRunAgain({ outcome, hasExited }: RunResult, trigger: Trigger, { count, deathsAlone }: Tries): string | undefined {
  if (trigger.kind === "timer" || trigger.kind === "hook" || count >= MOST_TRIES) return undefined;
  if (outcome.kind === "interrupted") return outcome.reason;
  if (!isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;
  return outcome.kind === "exited" && outcome.signal !== null ? `its process was ended by ${outcome.signal}` : "its process ended";
}

/** Its process ended while nothing else ran in it. */
export function isDeath({ outcome }: Pick<RunResult, "outcome">): boolean {
  return outcome.kind === "exited" || outcome.kind === "out-of-memory";
}
