import { remember } from "../../domain/event/dedupe.ts";
import { PdError } from "../../domain/errors.ts";
import { type Event, type NewEvents, type NewPostponedEvent } from "../../domain/event/event.ts";
import { type DeployedId, type InvocationId, eventId } from "../../domain/ids.ts";
import { emitterKey, keysReaching } from "../../domain/delivery/subscription.ts";
import type { EventStore } from "../../ports/stores/event-store.ts";
import type { PostponedStore } from "../../ports/stores/postponed-store.ts";
import type { Addendum, Committed, RunStore } from "../../ports/stores/run-store.ts";
import { publish, received } from "./deliveries.ts";
import { type MemorySource, type Shelves, change, stateOf } from "./shelves.ts";
import { writeStep } from "./workflows.ts";

const BATCH = 200;

interface Origin {
  readonly invocationId: InvocationId;
  readonly at: number;
}

export function memoryRuns(shelves: Shelves): RunStore & EventStore & PostponedStore {
  const { sources, invocations } = shelves;
  return {
    async open(id) {
      const kept = sources.get(id);
      if (kept === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot open ${id}: no source has this id`);
      return { fence: ++kept.fence, cache: kept.cache, state: stateOf(kept.state) };
    },
    async commit({ fence, invocation, events, postponed = [], stateChanges, learned, logs, step }) {
      const { id, sourceId, trigger, startedAt, durationMs } = invocation;
      const kept = owned(shelves, sourceId, fence);
      if (step !== undefined) writeStep(shelves, step);
      const origin = { invocationId: id, at: Math.round(startedAt + durationMs) };
      if (learned !== undefined) kept.cache = remember(kept.cache, learned);
      const stored = addEvents(kept, events, origin);
      postpone(shelves, sourceId, { events: postponed, origin });
      invocations.set(id, { invocation, logs: [...logs] });
      change(kept.state, stateChanges);
      shelves.pending.delete(id);
      if (trigger.kind === "timer")
        kept.instants = kept.instants.map((known) =>
          known.prop === trigger.prop && known.plannedAt === trigger.plannedAt && known.invocationId === id && known.state === "running"
            ? { ...known, state: "fired" }
            : known,
        );
      if (trigger.kind === "event") received(shelves, sourceId, trigger.messageId);
      // A retried step does not fail its run.
      const failed = step === undefined ? { invocation } : { invocation, run: step.run };
      return { events: stored, listeners: publish(shelves, { sourceId, ...origin, events: stored, logs, logChunk: shelves.nextNumber(), ...failed }) };
    },
    async committed(id) {
      const found = invocations.get(id);
      if (found === undefined) return undefined;
      const { sourceId } = found.invocation;
      const waiting = shelves.deliveries.filter(({ delivery }) => delivery.emitterId === sourceId && delivery.state === "pending");
      const events = (sources.get(sourceId)?.events ?? []).filter(({ invocationId }) => invocationId === id);
      return { events, listeners: [...new Set(waiting.map(({ delivery }) => delivery.listenerId))] };
    },
    append: async (addendum) => append(shelves, addendum),
    async storePending(request) {
      const { sourceId } = request;
      if (!sources.has(sourceId)) throw new PdError("PD_NOT_STORED", `Cannot store a request of ${sourceId}: the source was deleted`);
      if (!invocations.has(request.id) && !shelves.pending.has(request.id)) shelves.pending.set(request.id, request);
    },
    listPending: async (of) =>
      [...shelves.pending.values()].filter(({ sourceId }) => of.includes(sourceId)).toSorted((a, b) => a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1)),
    ...memoryInvocations(shelves),
    ...memoryState(shelves),
    ...memoryEvents(shelves),
    ...memoryPostponed(shelves),
  };
}

function memoryInvocations({ invocations }: Shelves): Pick<RunStore, "getInvocation" | "listInvocations" | "listOutcomes" | "invocationLogs"> {
  return {
    getInvocation: async (id) => invocations.get(id)?.invocation,
    async listInvocations(sourceId, { limit, before }) {
      const all = [...invocations.values()].filter(({ invocation }) => invocation.sourceId === sourceId).map(({ invocation }) => invocation);
      // When `before` was deleted, no older invocation is kept.
      const end =
        before === undefined
          ? all.length
          : Math.max(
              0,
              all.findIndex(({ id }) => id === before),
            );
      return all.slice(0, end).toReversed().slice(0, limit);
    },
    async listOutcomes(sourceId, limit) {
      const all = [...invocations.values()].filter(({ invocation }) => invocation.sourceId === sourceId);
      return all
        .toReversed()
        .slice(0, limit)
        .map(({ invocation: { id, startedAt, durationMs, outcome } }) => ({ id, startedAt, durationMs, outcome }));
    },
    invocationLogs: async (id) => invocations.get(id)?.logs ?? [],
  };
}

function memoryState(shelves: Shelves): Pick<RunStore, "readState" | "readActionState" | "writeActionState" | "readCache" | "writeState"> {
  const { sources } = shelves;
  return {
    readState: async (id) => stateOf(sources.get(id)?.state),
    readActionState: async (action) => stateOf(shelves.actionState.get(action)),
    async writeActionState(action, changes) {
      const state = shelves.actionState.get(action) ?? new Map<string, string>();
      shelves.actionState.set(action, state);
      change(state, changes);
    },
    readCache: async (id) => sources.get(id)?.cache ?? {},
    async writeState(id, changes, fence) {
      const kept = sources.get(id);
      if (kept === undefined || (fence !== undefined && kept.fence !== fence)) throw stale(id);
      if (fence === undefined) kept.fence++;
      change(kept.state, changes);
    },
  };
}

function append(
  shelves: Shelves,
  { fence, sourceId, invocationId, at, events, postponed = [], stateChanges, learned, logs, dropped, outcome }: Addendum,
): Committed {
  const kept = owned(shelves, sourceId, fence);
  const before = shelves.invocations.get(invocationId);
  const origin = { invocationId, at };
  if (learned !== undefined) kept.cache = remember(kept.cache, learned);
  const stored = addEvents(kept, events, origin);
  postpone(shelves, sourceId, { events: postponed, origin });
  change(kept.state, stateChanges);
  const failed = before === undefined || outcome === undefined ? {} : { invocation: { ...before.invocation, outcome } };
  if (before !== undefined) {
    const { invocation } = before;
    const sums = Object.entries(dropped).map(([reason, count]): [string, number] => [reason, (invocation.dropped[reason] ?? 0) + count]);
    const amended = {
      ...invocation,
      ...failed.invocation,
      eventCount: invocation.eventCount + events.length,
      dropped: { ...invocation.dropped, ...Object.fromEntries(sums) },
    };
    shelves.invocations.set(invocationId, { invocation: amended, logs: [...before.logs, ...logs] });
  }
  return { events: stored, listeners: publish(shelves, { sourceId, invocationId, at, events: stored, logs, logChunk: shelves.nextNumber(), ...failed }) };
}

function memoryEvents(shelves: Shelves): EventStore {
  const { sources } = shelves;
  const of = (id: DeployedId): readonly Event[] => sources.get(id)?.events ?? [];
  return {
    listEvents: async (id, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0, channel }) =>
      of(id)
        .filter((event) => event.seq < beforeSeq && event.seq > afterSeq && (channel === undefined || event.channel === channel))
        .toReversed()
        .slice(0, limit),
    listEventsSince: async (id, afterSeq, limit) =>
      of(id)
        .filter(({ seq }) => seq > afterSeq)
        .slice(0, limit),
    listEventsOf: async ({ sourceId, invocationId, since }, limit) =>
      of(sourceId)
        .filter((event) => event.invocationId === invocationId && event.storedAt >= since)
        .slice(0, limit),
    lastSeq: async (id) => sources.get(id)?.lastSeq ?? 0,
    firstSeqSince: async (id, at) => of(id).find(({ storedAt }) => storedAt >= at)?.seq ?? (sources.get(id)?.lastSeq ?? 0) + 1,
    countEvents: async (id, channel) => of(id).filter((event) => channel === undefined || event.channel === channel).length,
    async emitAgain(sourceId, seq, at) {
      const kept = sources.get(sourceId);
      const found = kept?.events.find((event) => event.seq === seq);
      if (kept === undefined || found === undefined) return undefined;
      const { id: _id, seq: _seq, storedAt: _stored, againOf = seq, invocationId, ...event } = found;
      const added = addEvents(kept, [event], { invocationId, at });
      const events = added.map((written) => ({ ...written, againOf }));
      kept.events.splice(-events.length, events.length, ...events);
      return { events, listeners: publish(shelves, { sourceId, invocationId, at, events, logs: [], logChunk: 0 }) };
    },
    async deleteEvents(id, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER, channel }) {
      const kept = sources.get(id);
      if (kept === undefined) return 0;
      const rest = kept.events.filter((event) => event.seq < fromSeq || event.seq > toSeq || (channel !== undefined && event.channel !== channel));
      const count = kept.events.length - rest.length;
      kept.events = rest;
      return count;
    },
  };
}

function memoryPostponed(shelves: Shelves): PostponedStore {
  return {
    nextPostponedAt: async () => shelves.postponed.reduce<number | undefined>((first, { dueAt }) => Math.min(first ?? dueAt, dueAt), undefined),
    async listPostponed(id, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0 }) {
      const concerns = (emitter: DeployedId, of: string): boolean =>
        emitter === id ||
        shelves.subscriptions.some(
          ({ emitterId, listenerId, channel }) => listenerId === id && channel === of && keysReaching(emitter).includes(emitterKey(emitterId)),
        );
      return shelves.postponed
        .filter(({ sourceId, channel, seq }) => seq < beforeSeq && seq > afterSeq && concerns(sourceId, channel))
        .toReversed()
        .slice(0, limit);
    },
    async deletePostponed(id, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER }) {
      const before = shelves.postponed.length;
      shelves.postponed = shelves.postponed.filter(({ sourceId, seq }) => sourceId !== id || seq < fromSeq || seq > toSeq);
      return before - shelves.postponed.length;
    },
    async releasePostponed(now) {
      const due = shelves.postponed
        .filter(({ dueAt }) => dueAt <= now)
        .toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
        .slice(0, BATCH);
      shelves.postponed = shelves.postponed.filter((event) => !due.includes(event));
      return due.flatMap(({ sourceId, seq: _seq, dueAt: _due, id: _id, storedAt: _stored, invocationId, ...event }) => {
        const kept = shelves.sources.get(sourceId);
        if (kept === undefined) return [];
        const events = addEvents(kept, [event], { invocationId, at: now });
        return [{ sourceId, events, listeners: publish(shelves, { sourceId, invocationId, at: now, events, logs: [], logChunk: 0 }) }];
      });
    },
  };
}

function owned({ sources }: Shelves, id: DeployedId, fence: number): MemorySource {
  const kept = sources.get(id);
  if (kept === undefined || kept.fence !== fence) throw stale(id);
  return kept;
}

function stale(id: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a run of ${id}: it no longer exists, or another process owns it`);
}

function addEvents(kept: MemorySource, events: NewEvents, { invocationId, at }: Origin): readonly Event[] {
  const stored = Array.from(events, (event): Event => {
    const seq = ++kept.lastSeq;
    return { ...event, seq, storedAt: at, invocationId, id: eventId(at, seq) };
  });
  kept.events.push(...stored);
  return stored;
}

function postpone(shelves: Shelves, sourceId: DeployedId, { events, origin }: { events: readonly NewPostponedEvent[]; origin: Origin }): void {
  for (const event of events) {
    const seq = shelves.nextNumber();
    shelves.postponed.push({ ...event, sourceId, seq, id: eventId(origin.at, seq), storedAt: origin.at, invocationId: origin.invocationId });
  }
}
