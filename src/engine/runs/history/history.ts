import type { Event } from "../../../domain/event/event.ts";
import { PdError } from "../../../domain/errors.ts";
import { type DeployedId, isInvocationId } from "../../../domain/ids.ts";
import type { Invocation, LogLine } from "../../../domain/run/invocation.ts";
import { isFailure } from "../../../domain/delivery/system-channels.ts";
import type { EventStore } from "../../../ports/stores/event-store.ts";
import type { EndedCall, InvocationPage, RunStore } from "../../../ports/stores/run-store.ts";
import type { TimerInstant, TimerStore } from "../../../ports/stores/timer-store.ts";
import type { Observation } from "../commits/event-feed.ts";

export interface LoggedLine {
  readonly invocation: Invocation;
  readonly line: LogLine;
  readonly index: number;
}

const MOST_LOOKED_AT = 1000;

interface HistoryPorts {
  readonly store: RunStore & Pick<EventStore, "listEventsOf"> & Pick<TimerStore, "listInstants">;
}

export class History {
  readonly #store: HistoryPorts["store"];

  constructor({ store }: HistoryPorts) {
    this.#store = store;
  }

  invocations(sourceId: DeployedId, page: InvocationPage): Promise<readonly Invocation[]> {
    return this.#store.listInvocations(sourceId, page);
  }

  /** Events that are still kept, oldest first. */
  eventsOf({ id: invocationId, sourceId, startedAt: since }: Invocation, limit: number): Promise<readonly Event[]> {
    return this.#store.listEventsOf({ sourceId, invocationId, since }, limit);
  }

  outcomes(sourceId: DeployedId, limit: number): Promise<readonly EndedCall[]> {
    return this.#store.listOutcomes(sourceId, limit);
  }

  /** Throws PD_INVOCATION_NOT_FOUND. */
  async find(id: string, attempted = "find invocation"): Promise<Invocation> {
    const found = isInvocationId(id) ? await this.#store.getInvocation(id) : undefined;
    if (found === undefined) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot ${attempted} "${id}": no invocation has this id`);
    return found;
  }

  linesOf({ id }: Pick<Invocation, "id">): Promise<readonly LogLine[]> {
    return this.#store.invocationLogs(id);
  }

  instants(sourceId: DeployedId, limit: number): Promise<readonly TimerInstant[]> {
    return this.#store.listInstants(sourceId, limit);
  }

  /** The newest `limit` observations, oldest first, rebuilt from stored invocations. */
  async observations(sourceId: DeployedId, limit: number): Promise<readonly Observation[]> {
    const groups: (readonly Observation[])[] = [];
    let count = 0;
    for (const invocation of await this.invocations(sourceId, { limit })) {
      const group = await this.#observationsOf(invocation);
      groups.push(group);
      count += group.length;
      if (count >= limit) break;
    }
    return groups.toReversed().flat().slice(-limit);
  }

  /** Inserts each log line of the triggers before the next run that started. */
  async observationsWith(sourceId: DeployedId, triggerIds: readonly DeployedId[], limit: number): Promise<readonly Observation[]> {
    const own = await this.observations(sourceId, limit);
    const ofTriggers = await Promise.all(triggerIds.map((id) => this.observations(id, limit)));
    const all = [...own];
    for (const one of ofTriggers.flat()) {
      if (one.kind !== "line") continue;
      const next = all.findIndex((other) => other.kind === "started" && other.at >= one.line.at);
      all.splice(next < 0 ? all.length : next, 0, one);
    }
    return all.slice(-limit);
  }

  /** Newest first. */
  async failures(sourceId: DeployedId, limit: number): Promise<readonly Invocation[]> {
    const looked = await this.invocations(sourceId, { limit: MOST_LOOKED_AT });
    return looked.filter(isFailure).slice(0, limit);
  }

  /** Newest first. */
  async lines(sourceId: DeployedId, limit: number): Promise<readonly LoggedLine[]> {
    const found: LoggedLine[] = [];
    for (const invocation of await this.invocations(sourceId, { limit: MOST_LOOKED_AT })) {
      const lines = await this.linesOf(invocation);
      found.push(...lines.map((line, index) => ({ invocation, line, index })).toReversed());
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Oldest first. */
  async hookLines(sourceId: DeployedId): Promise<readonly LoggedLine[]> {
    const hooks = (await this.invocations(sourceId, { limit: 20 })).filter(({ trigger }) => trigger.kind === "hook");
    const found: LoggedLine[] = [];
    for (const invocation of hooks.toReversed())
      for (const [index, line] of (await this.linesOf(invocation)).entries()) found.push({ invocation, line, index });
    return found;
  }

  async #observationsOf(invocation: Invocation): Promise<Observation[]> {
    const { id, startedAt, durationMs, trigger, outcome, eventCount, dropped, replayOf } = invocation;
    const lines = (await this.linesOf(invocation)).map((line): Observation => ({ kind: "line", id, line }));
    return [
      { kind: "started", id, at: startedAt, trigger, ...(replayOf === undefined ? {} : { replayOf }) },
      ...lines,
      { kind: "ended", id, at: startedAt + durationMs, durationMs, outcome, eventCount, dropped },
    ];
  }
}
