import { PdError } from "../../../domain/errors.ts";
import type { Event } from "../../../domain/event/event.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { Invocation } from "../../../domain/run/invocation.ts";
import type { CommittedRun } from "../commits/commit-run.ts";
import type { History } from "./history.ts";
import type { LiveSource } from "../source/live-source.ts";
import { type Rehearsal, type RehearsalPorts, rehearse } from "./rehearse.ts";

const MOST_COMPARED = 1000;

interface ReplayPorts extends RehearsalPorts {
  readonly history: History;
  /** Throws PD_SOURCE_NOT_FOUND. */
  readonly find: (sourceId: DeployedId) => LiveSource;
}

export class Replays {
  readonly #ports: ReplayPorts;

  constructor(ports: ReplayPorts) {
    this.#ports = ports;
  }

  /** Throws PD_INVOCATION_NOT_FOUND, and PD_BAD_INPUT for a hook or a workflow step. */
  async replay(id: string): Promise<CommittedRun> {
    const before = await this.#replayable(id, "replay");
    return this.#ports.find(before.sourceId).invoke(before.trigger, { replayOf: before.id });
  }

  /** Dry run on the current code. Throws as `replay` does. */
  async rehearse(id: string): Promise<{ before: Invocation; events: readonly Event[]; after: Rehearsal }> {
    const before = await this.#replayable(id, "dry-run");
    const kept = await this.#ports.history.eventsOf(before, MOST_COMPARED);
    const live = this.#ports.find(before.sourceId);
    return {
      before,
      events: kept.filter(({ againOf }) => againOf === undefined),
      after: await live.keepWarm(() => rehearse(this.#ports, live, before.trigger)),
    };
  }

  async #replayable(id: string, attempted: string): Promise<Invocation> {
    const before = await this.#ports.history.find(id, attempted);
    const { trigger } = before;
    if (trigger.kind === "step")
      throw new PdError("PD_BAD_INPUT", `Cannot ${attempted} ${before.id}: it was step ${trigger.namespace} of run ${trigger.runId}`, {
        fix: `pd rerun ${trigger.runId} --from ${trigger.namespace}`,
      });
    if (trigger.kind !== "hook") return before;
    throw new PdError("PD_BAD_INPUT", `Cannot ${attempted} ${before.id}: it called the hook ${trigger.hook}`, {
      fix: "pd update <source> runs deactivate and activate",
    });
  }
}
