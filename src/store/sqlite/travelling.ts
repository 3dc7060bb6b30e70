/**
 * How a run travels to the writer's thread and back: as few objects as can be, since each of them is copied twice. What
 * becomes a column leaves as its text, and what is empty is left out.
 */
import type { DedupeChange } from "../../domain/dedupe.ts";
import type { Event, NewEvent, NewPostponedEvent } from "../../domain/event.ts";
import { type DeployedId, type InvocationId, type ListenerId, eventId } from "../../domain/ids.ts";
import { type Invocation, type Outcome, type StateChanges, isFailed } from "../../domain/invocation.ts";
import type { Addendum, Committed, RunCommit } from "../../ports/run-store.ts";
import type { StepCommit } from "../../ports/workflow-store.ts";
import type { Bound } from "../../database/driver.ts";
import { newEventOf } from "./rows.ts";

/** What a run and an addendum have in common. */
interface Travelling {
  readonly fence: number;
  readonly sourceId: DeployedId;
  readonly id: InvocationId;
  readonly at: number;
  /** For each event, one after the other: channel, id for dedupe, summary, ts, payload. */
  readonly events: readonly Bound[];
  readonly learned: DedupeChange | undefined;
  readonly postponed: readonly NewPostponedEvent[] | undefined;
  readonly stateChanges: StateChanges | undefined;
  /** Lines as JSON text. */
  readonly logs: string | undefined;
}

export interface TravellingRun extends Travelling {
  /** Columns of the invocation, as INSERT_INVOCATION wants them. */
  readonly invocation: readonly Bound[];
  /** It fires this instant of a timer. */
  readonly instant?: { readonly prop: string; readonly plannedAt: number };
  /** It began with this message. */
  readonly messageId?: string;
  /** It has failed: listeners may want to hear of it. */
  readonly failed?: Invocation;
  readonly step?: StepCommit;
}

export interface TravellingAddendum extends Travelling {
  readonly dropped: Readonly<Record<string, number>>;
  readonly outcome?: Outcome;
}

/** What is told of it; the events are known where it came from. */
export interface TravellingAnswer {
  readonly firstSeq: number;
  readonly listeners: readonly ListenerId[];
}

/** Columns of an event in a list. */
export const EVENT_COLUMNS = 5;

export function travellingRun(run: RunCommit): TravellingRun {
  const { invocation, step, triggerText } = run;
  const { id, sourceId, trigger, startedAt, durationMs, outcome, eventCount, dropped } = invocation;
  const { responseStatus = null, replayOf = null, returned = null, version = null } = invocation;
  const travelling: TravellingRun = {
    ...travellingPart(run, { id, sourceId, at: Math.round(startedAt + durationMs) }),
    invocation: [
      id,
      sourceId,
      triggerText ?? JSON.stringify(trigger),
      startedAt,
      durationMs,
      JSON.stringify(outcome),
      eventCount,
      JSON.stringify(dropped),
      responseStatus,
      replayOf,
      returned,
      version,
    ],
    ...(isFailed(outcome) ? { failed: invocation } : {}),
    ...(step === undefined ? {} : { step }),
  };
  if (trigger.kind === "timer") return { ...travelling, instant: { prop: trigger.prop, plannedAt: trigger.plannedAt } };
  return trigger.kind === "event" ? { ...travelling, messageId: trigger.messageId } : travelling;
}

export function travellingAddendum(addendum: Addendum): TravellingAddendum {
  const { invocationId: id, sourceId, at, dropped, outcome } = addendum;
  return { ...travellingPart(addendum, { id, sourceId, at }), dropped, ...(outcome === undefined ? {} : { outcome }) };
}

function travellingPart(
  { fence, events, postponed = [], stateChanges, learned, logs }: RunCommit | Addendum,
  { id, sourceId, at }: Pick<Travelling, "id" | "sourceId" | "at">,
): Travelling {
  return {
    fence,
    sourceId,
    id,
    at,
    events: columnsOf(events),
    learned,
    postponed: postponed.length === 0 ? undefined : postponed,
    stateChanges: Object.keys(stateChanges).length === 0 ? undefined : stateChanges,
    logs: logs.length === 0 ? undefined : JSON.stringify(logs),
  };
}

function columnsOf(events: readonly NewEvent[]): Bound[] {
  const columns: Bound[] = [];
  for (const { channel, dedupeId = null, summary = null, ts = null, payload } of events) columns.push(channel, dedupeId, summary, ts, payload);
  return columns;
}

/** What columns were made of, with the numbers that the events have by now. */
export function eventsOf({ events, id: invocationId, at }: Travelling, firstSeq: number): Event[] {
  const found: NewEvent[] = [];
  for (let place = 0; place < events.length; place += EVENT_COLUMNS) {
    const [channel, dedupeId, summary, ts, payload] = events.slice(place, place + EVENT_COLUMNS);
    found.push(newEventOf({ channel, dedupe_id: dedupeId, summary, ts, payload }));
  }
  return storedEvents(found, firstSeq, { invocationId, at });
}

/** The events of a run as they are kept. */
export function storedEvents(events: readonly NewEvent[], firstSeq: number, { invocationId, at }: { invocationId: InvocationId; at: number }): Event[] {
  return events.map((event, index) => ({ ...event, seq: firstSeq + index, storedAt: at, invocationId, id: eventId(at, firstSeq + index) }));
}

/** What the store tells of a commit. */
export function committedOf({ firstSeq, listeners }: TravellingAnswer, events: readonly NewEvent[], { id, at }: Travelling): Committed {
  return { events: storedEvents(events, firstSeq, { invocationId: id, at }), listeners };
}
