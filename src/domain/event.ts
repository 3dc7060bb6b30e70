import type { DeployedId, InvocationId } from "./ids.ts";

/** What `$emit(event, meta)` asked for, as it left the component's process. */
export interface Emit {
  /** The event as JSON text. */
  readonly payload: string;
  readonly id?: string | number | undefined;
  /** An id was given that is neither text nor number; shown in the warning. */
  readonly unusableId?: string | undefined;
  /** Channel; absent or empty: the default one. */
  readonly name?: string | undefined;
  readonly summary?: string | undefined;
  /** As the component gave it: epoch ms or s, an ISO string (a Date arrives as one). */
  readonly ts?: string | number | undefined;
  /** When it is to be emitted, in any form of `ts`; absent or past: now. */
  readonly deliveryTs?: string | number | undefined;
}

/** About as many characters as an emit keeps in memory, and more than it has as text. */
export function sizeOfEmit({ payload, id, unusableId, name, summary, ts, deliveryTs }: Emit): number {
  return EMIT_OVERHEAD + payload.length + lengthOf(id) + lengthOf(unusableId) + lengthOf(name) + lengthOf(summary) + lengthOf(ts) + lengthOf(deliveryTs);
}

const EMIT_OVERHEAD = 64;

function lengthOf(value: string | number | undefined): number {
  return typeof value === "string" ? value.length : 0;
}

/** An emit that survived dedupe, before it has a number. */
export interface NewEvent {
  readonly payload: string;
  /** The `id` that the component gave, as text. */
  readonly dedupeId?: string | undefined;
  readonly channel: string;
  readonly summary?: string | undefined;
  /** Epoch ms. */
  readonly ts?: number | undefined;
}

/** An event as it is kept. */
export interface Event extends NewEvent {
  readonly id: string;
  /** Number within the source: from 1, without gaps. */
  readonly seq: number;
  /** When it was stored, epoch ms. */
  readonly storedAt: number;
  readonly invocationId: InvocationId;
  /** It was emitted once more by somebody's hand: the number of the one that it repeats. */
  readonly againOf?: number;
}

/** An event that is emitted at a later time, epoch ms. */
export interface NewPostponedEvent extends NewEvent {
  readonly dueAt: number;
}

/** As it is kept until then. `seq` and `id` are those among postponed events. */
export interface PostponedEvent extends NewPostponedEvent, Event {
  readonly sourceId: DeployedId;
}

/** Below this a number of `ts` is seconds: 1e11 s is the year 5138, 1e11 ms is 1973. */
const SECONDS_BELOW = 1e11;
/** The farthest that a Date reaches. */
const LATEST_TIME = 8.64e15;

/** Whether a time is a number so small that it is taken for seconds. */
export function isTakenForSeconds(ts: string | number | undefined): boolean {
  const number = typeof ts === "number" ? ts : Number(ts ?? "");
  return ts !== "" && ts !== undefined && number !== 0 && Math.abs(number) < SECONDS_BELOW;
}

/** Epoch ms of a `ts` in any of the forms components use; `undefined` when it is none. */
export function parseTs(ts: string | number | undefined): number | undefined {
  if (ts === undefined || ts === "") return undefined;
  const number = typeof ts === "number" ? ts : Number(ts);
  if (Number.isFinite(number)) {
    const ms = Math.round(Math.abs(number) < SECONDS_BELOW ? number * 1000 : number);
    return Math.abs(ms) <= LATEST_TIME ? ms : undefined;
  }
  const parsed = typeof ts === "string" ? Date.parse(ts) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/**
 * Orders the emits of one run from oldest to newest by `ts` (components.md, Emission 1). Emits without
 * a usable `ts` keep their place; equal ones keep their order.
 */
export function orderEmits(emits: readonly Emit[]): readonly Emit[] {
  if (areInOrder(emits)) return emits;
  const dated = emits.flatMap((emit, place) => {
    const at = parseTs(emit.ts);
    return at === undefined ? [] : [{ emit, place, at }];
  });
  const sorted = dated.toSorted((a, b) => a.at - b.at);
  const ordered = [...emits];
  dated.forEach(({ place }, index) => {
    const next = sorted[index];
    if (next !== undefined) ordered[place] = next.emit;
  });
  return ordered;
}

/** As they mostly are. */
function areInOrder(emits: readonly Emit[]): boolean {
  let newest = Number.NEGATIVE_INFINITY;
  return emits.every(({ ts }) => {
    const at = parseTs(ts) ?? newest;
    const isNewer = at >= newest;
    newest = at;
    return isNewer;
  });
}

/** The event that an emit becomes once it is kept. */
export function eventOf(emit: Emit): NewEvent {
  const { payload, id, name = "", summary, ts } = emit;
  return { payload, channel: name, dedupeId: id === undefined ? undefined : String(id), summary, ts: parseTs(ts) };
}

/** Events in their order. An array of them is one as well. */
export interface NewEvents extends Iterable<NewEvent> {
  readonly length: number;
}

/** Events that are made each time they are gone through: of a run that emits 100,000 times there is only one at a time. */
class EventsOfEmits implements NewEvents {
  readonly #emits: readonly Emit[];

  constructor(emits: readonly Emit[]) {
    this.#emits = emits;
  }

  get length(): number {
    return this.#emits.length;
  }

  *[Symbol.iterator](): Iterator<NewEvent> {
    for (const emit of this.#emits) yield eventOf(emit);
  }
}

/** More events are not kept beside the emits that they are made of. */
const FEW = 500;

/** Parts what is emitted now from what is postponed (platform.md §4.5, `delivery_ts`). */
export function partEmits(emits: readonly Emit[], now: number): { events: NewEvents; postponed: readonly NewPostponedEvent[] } {
  const emitted: Emit[] = [];
  const postponed: NewPostponedEvent[] = [];
  for (const emit of emits) {
    const dueAt = parseTs(emit.deliveryTs);
    if (dueAt === undefined || dueAt <= now) emitted.push(emit);
    else postponed.push({ ...eventOf(emit), dueAt });
  }
  return { events: emitted.length > FEW ? new EventsOfEmits(emitted) : emitted.map(eventOf), postponed };
}

/** Epoch ms as people and machines read it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
