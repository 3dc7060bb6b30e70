import { PdError } from "../../../domain/errors.ts";
import type { LogLine } from "../../../domain/run/invocation.ts";
import { MOST_TRIES, type Tries } from "../../../domain/run/run-again.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CommittedRun } from "../commits/commit-run.ts";
import type { InvokeOptions } from "./invoke-options.ts";

export interface Try {
  readonly options: InvokeOptions;
  readonly tries: Tries;
  readonly notes: readonly LogLine[];
}

/** A stored run, or the reason why the try does not count. */
export type Tried = { readonly run: CommittedRun } | { readonly reason: string; readonly wasDeath: boolean };

export const ONE_TRY: Try = { options: {}, tries: { count: 1, deathsAlone: 0 }, notes: [] };

interface TryPorts {
  readonly clock: Pick<Clock, "now">;
  readonly isOver: () => boolean;
  readonly attempt: (given: Try, isAlone: boolean) => Promise<Tried>;
}

interface FirstTry {
  readonly name: string;
  readonly options: InvokeOptions;
  readonly first: Tried;
}

/** Retries alone, until a try counts. Throws PD_INTERRUPTED after MOST_TRIES tries or when `isOver` returns true. */
export async function untilItCounts({ clock, isOver, attempt }: TryPorts, { name, options, first }: FirstTry): Promise<CommittedRun> {
  const notes: LogLine[] = [];
  let { tries } = ONE_TRY;
  for (let tried = first; ; tried = await attempt({ options, tries, notes }, true)) {
    if ("run" in tried) return tried.run;
    if (isOver() || tries.count >= MOST_TRIES) throw new PdError("PD_INTERRUPTED", `A run of ${name} was interrupted: ${tried.reason}`);
    options.onVoid?.();
    notes.push({ at: clock.now(), level: "system", text: `Discarded an attempt and ran it again: ${tried.reason}` });
    tries = { count: tries.count + 1, deathsAlone: tries.deathsAlone + (tried.wasDeath ? 1 : 0) };
  }
}
