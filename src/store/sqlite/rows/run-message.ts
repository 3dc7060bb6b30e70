/**
 * Sent to the writer's thread and back with few objects, because each is copied twice. Column values are sent as text.
 */
import { deserialize, serialize } from "node:v8";
import type { DedupeChange } from "../../../domain/event/dedupe.ts";
import type { Event, NewEvent, NewEvents, NewPostponedEvent } from "../../../domain/event/event.ts";
import type { Verdict } from "../../../domain/delivery/delivery.ts";
import { type DeployedId, type InvocationId, type ListenerId, numberOfDelivery } from "../../../domain/ids.ts";
import { type Outcome, type StateChanges, isFailed } from "../../../domain/run/invocation.ts";
import type { Addendum, RunCommit } from "../../../ports/stores/run-store.ts";
import type { Published } from "../../../domain/delivery/message.ts";
import type { AttemptRecord } from "../../../ports/stores/delivery-store.ts";
import type { Bound } from "../../../database/driver.ts";
import { newEventOf } from "../../rows/rows.ts";
import { storedEvents } from "../../rows/stored-commit.ts";
import { type StepMessage, stepMessage } from "../../rows/step-message.ts";

export interface FencedMessage {
  readonly fence: number;
  readonly sourceId: DeployedId;
  readonly id: InvocationId;
  readonly at: number;
  /** Channel, dedupe id, summary, ts and payload of each. For large runs only the last part. */
  readonly events: readonly Bound[];
  readonly eventParts: readonly EventPart[] | undefined;
  readonly learned: DedupeChange | undefined;
  readonly postponed: readonly NewPostponedEvent[] | undefined;
  readonly stateChanges: StateChanges | undefined;
  /** JSON text. */
  readonly logs: string | undefined;
}

export interface RunMessage extends FencedMessage {
  /** Parameters of INSERT_INVOCATION. */
  readonly invocation: readonly Bound[];
  readonly instant: { readonly prop: string; readonly plannedAt: number } | undefined;
  readonly messageId: string | undefined;
  /** A Failure as JSON text. */
  readonly failed: string | undefined;
  readonly step: StepMessage | undefined;
}

export type Failure = Pick<Published, "invocation" | "run">;

export interface AddendumMessage extends FencedMessage {
  readonly dropped: Readonly<Record<string, number>>;
  readonly outcome: Outcome | undefined;
}

export function isFencedMessage(write: unknown): write is RunMessage | AddendumMessage {
  return typeof write === "object" && write !== null && "fence" in write;
}

export interface AttemptMessage {
  readonly seq: number;
  readonly attemptCount: number;
  /** `nextAt` when this attempt started, epoch ms. */
  readonly takenAt: number | null;
  readonly listenerId: ListenerId;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  /** A `SendResult` as JSON text. */
  readonly result: string;
  readonly verdict: Verdict["kind"];
  /** Null unless the verdict is `retry`. */
  readonly retryAt: number | null;
}

export const EVENT_COLUMNS = 5;

/** Bytes are moved to the thread instead of copied. */
export interface EventPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

/** As objects, 100,000 events used 12 MB in the thread. */
const EVENTS_A_PART = 500;
/** The thread checks for waiting writes after each part. */
const CHARACTERS_A_PART = 2 ** 20;

// V8 gives each object literal that starts with a spread its own slow shape.

export function runMessage({ fence, invocation, triggerText, events, postponed, stateChanges, learned, logs, step }: RunCommit): RunMessage {
  const { id, sourceId, trigger, startedAt, durationMs, outcome, eventCount, dropped } = invocation;
  const { responseStatus = null, replayOf = null, returned = null, version = null } = invocation;
  const text = triggerText ?? JSON.stringify(trigger);
  const [told, why] = [JSON.stringify(outcome), JSON.stringify(dropped)];
  const columns = columnsOf(events);
  return {
    fence,
    sourceId,
    id,
    at: Math.round(startedAt + durationMs),
    events: columns.events,
    eventParts: columns.eventParts,
    learned,
    postponed: unlessEmpty(postponed),
    stateChanges: Object.keys(stateChanges).length === 0 ? undefined : stateChanges,
    logs: logs.length === 0 ? undefined : JSON.stringify(logs),
    invocation: [id, sourceId, text, startedAt, durationMs, told, eventCount, why, responseStatus, replayOf, returned, version],
    instant: trigger.kind === "timer" ? { prop: trigger.prop, plannedAt: trigger.plannedAt } : undefined,
    messageId: trigger.kind === "event" ? trigger.messageId : undefined,
    failed: isFailed(outcome) ? JSON.stringify({ invocation, run: step?.run } satisfies Failure) : undefined,
    step: step === undefined ? undefined : stepMessage(step),
  };
}

export function addendumMessage(addendum: Addendum): AddendumMessage {
  const { fence, sourceId, invocationId: id, at, events, postponed, stateChanges, learned, logs, dropped, outcome } = addendum;
  const columns = columnsOf(events);
  return {
    fence,
    sourceId,
    id,
    at,
    events: columns.events,
    eventParts: columns.eventParts,
    learned,
    postponed: unlessEmpty(postponed),
    stateChanges,
    logs: logs.length === 0 ? undefined : JSON.stringify(logs),
    dropped,
    outcome,
  };
}

export function attemptMessage({ delivery: { id, listenerId, attemptCount, nextAt }, attempt, verdict }: AttemptRecord): AttemptMessage {
  return {
    seq: numberOfDelivery(id) ?? -1,
    attemptCount,
    takenAt: nextAt ?? null,
    listenerId,
    at: attempt.at,
    durationMs: attempt.durationMs,
    result: JSON.stringify(attempt.result),
    verdict: verdict.kind,
    retryAt: verdict.kind === "retry" ? verdict.at : null,
  };
}

function unlessEmpty<Item>(items: readonly Item[] | undefined): readonly Item[] | undefined {
  return items === undefined || items.length === 0 ? undefined : items;
}

function columnsOf(events: NewEvents): Pick<FencedMessage, "events" | "eventParts"> {
  let columns: Bound[] = [];
  let characters = 0;
  let eventParts: EventPart[] | undefined;
  for (const { channel, dedupeId = null, summary = null, ts = null, payload } of events) {
    const size = payload.length + channel.length + (dedupeId?.length ?? 0) + (summary?.length ?? 0);
    if (columns.length === EVENTS_A_PART * EVENT_COLUMNS || (columns.length > 0 && characters + size > CHARACTERS_A_PART)) {
      (eventParts ??= []).push({ bytes: serialize(columns), count: columns.length / EVENT_COLUMNS });
      columns = [];
      characters = 0;
    }
    columns.push(channel, dedupeId, summary, ts, payload);
    characters += size;
  }
  return { events: columns, eventParts };
}

export function partCountOf({ eventParts }: FencedMessage): number {
  return eventParts?.length ?? 0;
}

interface Columns {
  readonly columns: readonly Bound[];
  readonly before: number;
}

export function* partsFrom({ eventParts = [] }: FencedMessage, first: number): Generator<Columns> {
  let before = 0;
  for (const [index, { bytes, count }] of eventParts.entries()) {
    if (index >= first) yield { columns: deserialize(bytes), before };
    before += count;
  }
}

export function* columnsFrom(told: FencedMessage, first: number): Generator<Columns> {
  yield* partsFrom(told, first);
  yield { columns: told.events, before: countInParts(told) };
}

export function eventCountOf(told: FencedMessage): number {
  return countInParts(told) + told.events.length / EVENT_COLUMNS;
}

function countInParts({ eventParts = [] }: FencedMessage): number {
  return eventParts.reduce((sum, { count }) => sum + count, 0);
}

export function eventsIn({ id: invocationId, at }: FencedMessage, columns: readonly Bound[], firstSeq: number): Event[] {
  const found: NewEvent[] = [];
  for (let place = 0; place < columns.length; place += EVENT_COLUMNS) {
    const [channel, dedupeId, summary, ts, payload] = columns.slice(place, place + EVENT_COLUMNS);
    found.push(newEventOf({ channel, dedupe_id: dedupeId, summary, ts, payload }));
  }
  return storedEvents(found, firstSeq, { invocationId, at });
}
