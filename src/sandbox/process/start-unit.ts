import { PdError, isDiskProblem, messageOf } from "../../domain/errors.ts";
import { type Outcome, describeOutcome, outcomeDetails } from "../../domain/run/invocation.ts";
import { EndedAtStart } from "./child-process.ts";
import type { FailedLoad, ProcessUnit } from "./process-unit.ts";
import { throwIfUnwanted } from "./wanted-load.ts";

/** Most attempts when the process is killed. */
const MOST_STARTS = 5;

export interface StartTries {
  readonly signal: AbortSignal | undefined;
  isStopping(): boolean;
  explain(reason: string): string | undefined;
}

/**
 * Retries when the process may have been killed from outside. `load` receives the attempt, from 1. Throws PD_LOAD_FAILED,
 * PD_INTERRUPTED, PD_NOT_STORED, PD_STOPPING, PD_FAILED.
 */
export async function startUnit(load: (tries: number) => Promise<ProcessUnit | FailedLoad>, context: StartTries): Promise<ProcessUnit> {
  const { signal } = context;
  for (let tries = 1; ; tries++) {
    throwIfUnwanted(signal);
    const loaded = await load(tries).catch((error: unknown) => ({ error }));
    if ("definition" in loaded) return loaded;
    throwIfUnwanted(signal);
    // SIGKILL is retried up to MOST_STARTS times. Another signal, or a failed start, is retried once.
    const endedBy = signalOf(loaded);
    const isKilled = endedBy === "SIGKILL";
    const mayGoOn = tries < (isKilled ? MOST_STARTS : 2) && (isKilled || endedBy !== null || "error" in loaded);
    if (mayGoOn && !context.isStopping()) continue;
    if (isKilled) throw new PdError("PD_INTERRUPTED", `Cannot load the component: its process was killed ${tries} times`);
    if ("outcome" in loaded) throw loadFailed(loaded.outcome, context);
    if (loaded.error instanceof PdError) throw loaded.error;
    const reason = messageOf(loaded.error);
    throw new PdError(isDiskProblem(loaded.error) ? "PD_NOT_STORED" : "PD_FAILED", `Cannot start a process for the component: ${reason}`, {
      cause: loaded.error,
    });
  }
}

/** Null without a signal, or when this server ended the process. */
function signalOf(failed: FailedLoad | { readonly error: unknown }): string | null {
  if ("outcome" in failed) return failed.outcome.kind === "exited" ? failed.outcome.signal : null;
  return failed.error instanceof EndedAtStart && failed.error.exit.misuse === undefined ? failed.error.exit.signal : null;
}

function loadFailed(outcome: Outcome, context: StartTries): PdError {
  const reason = describeOutcome(outcome);
  const fix = outcome.kind === "timed-out" ? "Move slow or waiting code from the top level of the module into run or a hook" : context.explain(reason);
  return new PdError("PD_LOAD_FAILED", `Cannot load the component: ${reason}`, { details: outcomeDetails(outcome), ...(fix === undefined ? {} : { fix }) });
}
