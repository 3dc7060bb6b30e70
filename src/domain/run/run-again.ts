import type { RunResult } from "./invocation.ts";
import type { Trigger } from "./trigger.ts";

export interface Tries {
  readonly count: number;
  /** How often its process ended while nothing else ran in it. */
  readonly deathsAlone: number;
}

/** A run that is interrupted this often is assumed to cause it. */
export const MOST_TRIES = 10;
const DEATHS_FOR_BLAME = 2;

/**
 * Undefined when the result counts. A process may end because of an earlier run or from outside, so a run is blamed
 * only after its process has ended twice while nothing else ran in it.
 */
export function reasonToRunAgain({ outcome, hasExited }: RunResult, trigger: Trigger, { count, deathsAlone }: Tries): string | undefined {
  if (trigger.kind === "timer" || trigger.kind === "hook" || count >= MOST_TRIES) return undefined;
  if (outcome.kind === "interrupted") return outcome.reason;
  if (!isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;
  return outcome.kind === "exited" && outcome.signal !== null ? `its process was killed by ${outcome.signal}` : "its process ended";
}

export function isDeath({ outcome }: Pick<RunResult, "outcome">): boolean {
  return outcome.kind === "exited" || outcome.kind === "out-of-memory";
}
