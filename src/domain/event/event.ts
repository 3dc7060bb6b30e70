import type { DeployedId, InvocationId } from "../ids.ts";

export interface Emit {
  /** JSON text. */
  readonly payload: string;
  readonly id?: string | number | undefined;
  /** An id that is neither a string nor a number, for the warning. */
  readonly unusableId?: string | undefined;
  /** Omitted or empty for the default channel. */
  readonly name?: string | undefined;
  readonly summary?: string | undefined;
  /** Epoch ms, epoch seconds, or an ISO string (also for a Date). */
  readonly ts?: string | number | undefined;
  /** When to emit it, in any form of `ts`. Omitted or past means now. */
  readonly deliveryTs?: string | number | undefined;
}

/** Characters, never below the emit's text. */
export function sizeOfEmit({ payload, id, unusableId, name, summary, ts, deliveryTs }: Emit): number {
  return EMIT_OVERHEAD + payload.length + lengthOf(id) + lengthOf(unusableId) + lengthOf(name) + lengthOf(summary) + lengthOf(ts) + lengthOf(deliveryTs);
}

const EMIT_OVERHEAD = 64;

function lengthOf(value: string | number | undefined): number {
  return typeof value === "string" ? value.length : 0;
}

/** An emit that passed dedupe. */
export interface NewEvent {
  readonly payload: string;
  readonly dedupeId?: string | undefined;
  readonly channel: string;
  readonly summary?: string | undefined;
  /** Epoch ms. */
  readonly ts?: number | undefined;
}

export interface Event extends NewEvent {
  readonly id: string;
  /** Number within the source, from 1, without gaps. */
  readonly seq: number;
  /** Epoch ms. */
  readonly storedAt: number;
  readonly invocationId: InvocationId;
  /** The original event, when a user emitted it again. */
  readonly againOf?: number;
}

export interface NewPostponedEvent extends NewEvent {
  readonly dueAt: number;
}

/** `seq` and `id` count postponed events only. */
export interface PostponedEvent extends NewPostponedEvent, Event {
  readonly sourceId: DeployedId;
}

/** Smaller values are seconds: 1e11 s is the year 5138, and 1e11 ms is 1973. */
const SECONDS_BELOW = 1e11;
/** Largest time of a Date. */
const LATEST_TIME = 8.64e15;

export function isTakenForSeconds(ts: string | number | undefined): boolean {
  const number = typeof ts === "number" ? ts : Number(ts ?? "");
  return ts !== "" && ts !== undefined && number !== 0 && Math.abs(number) < SECONDS_BELOW;
}

/** Returns epoch ms. */
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

/** Sorts by `ts`, oldest first. Emits without a valid `ts` keep their place. */
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

function areInOrder(emits: readonly Emit[]): boolean {
  let newest = Number.NEGATIVE_INFINITY;
  return emits.every(({ ts }) => {
    const at = parseTs(ts) ?? newest;
    const isNewer = at >= newest;
    newest = at;
    return isNewer;
  });
}

export function eventOf(emit: Emit): NewEvent {
  const { payload, id, name = "", summary, ts } = emit;
  return { payload, channel: name, dedupeId: id === undefined ? undefined : String(id), summary, ts: parseTs(ts) };
}

export interface NewEvents extends Iterable<NewEvent> {
  readonly length: number;
}

/** Creates events while iterating, so that a run with 100,000 emits has one in memory. */
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

const FEW = 500;

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

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
