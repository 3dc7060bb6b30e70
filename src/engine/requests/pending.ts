import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { Outcome } from "../../domain/run/invocation.ts";
import type { PendingRequest } from "../../ports/stores/run-store.ts";
import type { CommittedRun } from "../runs/commits/commit-run.ts";
import type { LiveSource } from "../runs/source/live-source.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

export interface PendingPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface StoredTrigger extends Pick<PendingRequest, "id" | "trigger"> {
  /** HTTP status that the client received, if known. */
  readonly responseStatus?: ((outcome: Outcome) => number | undefined) | undefined;
}

/**
 * Retries with growing pauses. Throws PD_STOPPING; the trigger stays stored. Throws PD_SOURCE_NOT_FOUND when the source
 * was deleted, which also deletes the trigger.
 */
export async function runUntilStored(ports: PendingPorts, live: LiveSource, request: StoredTrigger): Promise<CommittedRun> {
  const { clock, log, signal } = ports;
  const { id, trigger, responseStatus } = request;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (live.isGone) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run a stored request: its source ${live.outline.id} was deleted`);
    try {
      return await live.invoke(trigger, { id, responseStatus });
    } catch (error) {
      log.warn("a stored request could not be run yet", { source: live.outline.slug, id, reason: messageOf(error) });
      await clock.sleepUntil(clock.now() + pauseMs, signal);
    }
  }
  throw new PdError("PD_STOPPING", `A stored request of ${live.outline.slug} waits for the next start of the server`);
}
