import type { Event } from "../../../domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { LogLine, Outcome } from "../../../domain/run/invocation.ts";
import type { Trigger } from "../../../domain/run/trigger.ts";
import type { EventStore } from "../../../ports/stores/event-store.ts";

export type Observation =
  | { readonly kind: "started"; readonly id: InvocationId; readonly at: number; readonly trigger: Trigger; readonly replayOf?: InvocationId | undefined }
  | { readonly kind: "line"; readonly id: InvocationId; readonly line: LogLine }
  | {
      readonly kind: "ended";
      readonly id: InvocationId;
      readonly at: number;
      readonly durationMs: number;
      readonly outcome: Outcome;
      readonly eventCount: number;
      readonly dropped: Readonly<Record<string, number>>;
    }
  | { readonly kind: "updated"; readonly at: number; readonly version: string; readonly hash: string };

type Subscriptions<Item> = Map<DeployedId, Set<Subscription<Item>>>;

const TOGETHER = 200;
/** A reader with more waiting items is disconnected. */
const MAX_WAITING = 5000;

/** A reader that starts at a number gets stored events, then new ones, without gaps or duplicates. */
export class EventFeed {
  readonly #store: EventStore;
  readonly #events: Subscriptions<readonly Event[]> = new Map();
  readonly #observations: Subscriptions<Observation> = new Map();
  #onEvents: (sourceId: DeployedId) => void = () => {};
  #watcher: ((sourceId: DeployedId, observation: Observation) => void) | undefined;

  constructor(store: EventStore) {
    this.#store = store;
  }

  announce(sourceId: DeployedId, stored: { readonly events: readonly Event[] }): void {
    if (stored.events.length === 0) return;
    this.#onEvents(sourceId);
    const readers = this.#events.get(sourceId);
    if (readers === undefined) return;
    for (const part of partsOf(stored.events)) for (const reader of readers) reader.add(part, part.length);
  }

  observe(sourceId: DeployedId, observation: Observation): void {
    this.#watcher?.(sourceId, observation);
    const readers = this.#observations.get(sourceId);
    if (readers !== undefined) for (const reader of readers) reader.add(observation);
  }

  /** New events of any source or workflow. */
  watchEvents(watcher: (sourceId: DeployedId) => void): void {
    this.#onEvents = watcher;
  }

  watchAll(watcher: (sourceId: DeployedId, observation: Observation) => void): void {
    this.#watcher = watcher;
  }

  /** Readers still receive the items that wait. */
  end(sourceId: DeployedId): void {
    for (const readers of [this.#events.get(sourceId), this.#observations.get(sourceId)]) readers?.forEach((reader) => reader.end());
  }

  endAll(): void {
    for (const sourceId of [...this.#events.keys(), ...this.#observations.keys()]) this.end(sourceId);
  }

  /**
   * The reader is registered when this returns. All readers receive the same array. Ends when `signal` aborts, the
   * source is gone or the reader is too slow.
   */
  eventsSince(sourceId: DeployedId, afterSeq: number, signal: AbortSignal): AsyncGenerator<readonly Event[]> {
    return this.#backlogThen(new Subscription<readonly Event[]>(this.#events, sourceId, signal), sourceId, afterSeq);
  }

  observations(sourceId: DeployedId, signal: AbortSignal): AsyncIterable<Observation> {
    return new Subscription<Observation>(this.#observations, sourceId, signal);
  }

  async *#backlogThen(live: Subscription<readonly Event[]>, sourceId: DeployedId, afterSeq: number): AsyncGenerator<readonly Event[]> {
    let seen = afterSeq;
    for await (const missed of this.#kept(sourceId, seen, Number.POSITIVE_INFINITY)) {
      yield missed;
      seen = lastSeqOf(missed, seen);
    }
    for await (const told of live) {
      const news = (told[0]?.seq ?? 0) > seen ? told : told.filter(({ seq }) => seq > seen);
      const [first] = news;
      if (first === undefined) continue;
      // Parallel commits may be announced out of order, so missing events are read from the store.
      if (first.seq > seen + 1) yield* this.#kept(sourceId, seen, first.seq);
      yield news;
      seen = lastSeqOf(news, seen);
    }
  }

  async *#kept(sourceId: DeployedId, after: number, before: number): AsyncGenerator<readonly Event[]> {
    for (let seen = after; ;) {
      const found = await this.#store.listEventsSince(sourceId, seen, TOGETHER);
      const wanted = found.filter(({ seq }) => seq < before);
      if (wanted.length > 0) yield wanted;
      if (wanted.length < TOGETHER) return;
      seen = lastSeqOf(wanted, seen);
    }
  }
}

function partsOf(events: readonly Event[]): readonly (readonly Event[])[] {
  if (events.length <= TOGETHER) return [events];
  return Array.from({ length: Math.ceil(events.length / TOGETHER) }, (_, place) => events.slice(place * TOGETHER, (place + 1) * TOGETHER));
}

function lastSeqOf(events: readonly Event[], otherwise: number): number {
  return events.at(-1)?.seq ?? otherwise;
}

class Subscription<Item> implements AsyncIterable<Item> {
  readonly #waiting: { readonly item: Item; readonly weight: number }[] = [];
  #weight = 0;
  readonly #leave: () => void;
  #wake: () => void = () => {};
  #isOver = false;

  constructor(all: Subscriptions<Item>, sourceId: DeployedId, signal: AbortSignal) {
    const readers = all.get(sourceId) ?? new Set();
    all.set(sourceId, readers);
    this.#leave = () => {
      readers.delete(this);
      if (readers.size === 0 && all.get(sourceId) === readers) all.delete(sourceId);
    };
    readers.add(this);
    if (signal.aborted) this.end();
    else signal.addEventListener("abort", () => this.end(), { once: true });
  }

  add(item: Item, weight = 1): void {
    this.#waiting.push({ item, weight });
    this.#weight += weight;
    if (this.#weight > MAX_WAITING) this.end();
    else this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#leave();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#weight -= next.weight;
        yield next.item;
      } else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
