import type { Event } from "../../domain/event.ts";
import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { LogLine, Outcome } from "../../domain/invocation.ts";
import type { Trigger } from "../../domain/trigger.ts";
import type { EventStore } from "../../ports/event-store.ts";

/** What can be watched of a source while it works. */
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

/** Events read at a time from the backlog. */
const BACKLOG_STEP = 200;
/** A reader that lets so many items wait is cut off. */
const MAX_WAITING = 5000;

/** Tells readers what is new; a reader that begins at a number first gets what it missed, then what comes, without gap or double. */
export class EventFeed {
  readonly #store: EventStore;
  readonly #events: Subscriptions<Event> = new Map();
  readonly #observations: Subscriptions<Observation> = new Map();
  #watcher: ((sourceId: DeployedId, observation: Observation) => void) | undefined;

  constructor(store: EventStore) {
    this.#store = store;
  }

  announce(sourceId: DeployedId, stored: { readonly events: readonly Event[] }): void {
    const readers = this.#events.get(sourceId);
    if (readers !== undefined) for (const event of stored.events) for (const reader of readers) reader.add(event);
  }

  observe(sourceId: DeployedId, observation: Observation): void {
    this.#watcher?.(sourceId, observation);
    const readers = this.#observations.get(sourceId);
    if (readers !== undefined) for (const reader of readers) reader.add(observation);
  }

  /** Is told what any source does, as it happens; there is one. */
  watchAll(watcher: (sourceId: DeployedId, observation: Observation) => void): void {
    this.#watcher = watcher;
  }

  /** The source is gone: whoever reads it gets what is still waiting, and then the end. */
  end(sourceId: DeployedId): void {
    for (const readers of [this.#events.get(sourceId), this.#observations.get(sourceId)]) readers?.forEach((reader) => reader.end());
  }

  /** The server stops. */
  endAll(): void {
    for (const sourceId of [...this.#events.keys(), ...this.#observations.keys()]) this.end(sourceId);
  }

  /** The reader is in line when this returns. Ends when the signal aborts, when the source is gone, when the reader is too slow. */
  eventsSince(sourceId: DeployedId, afterSeq: number, signal: AbortSignal): AsyncGenerator<Event> {
    return this.#backlogThen(new Subscription<Event>(this.#events, sourceId, signal), sourceId, afterSeq);
  }

  observations(sourceId: DeployedId, signal: AbortSignal): AsyncIterable<Observation> {
    return new Subscription<Observation>(this.#observations, sourceId, signal);
  }

  async *#backlogThen(live: Subscription<Event>, sourceId: DeployedId, afterSeq: number): AsyncGenerator<Event> {
    let seen = afterSeq;
    for (;;) {
      const missed = await this.#store.listEventsSince(sourceId, seen, BACKLOG_STEP);
      for (const event of missed) {
        yield event;
        seen = event.seq;
      }
      if (missed.length < BACKLOG_STEP) break;
    }
    for await (const event of live) {
      // Two who store at the same time may tell it the other way round: what may be missing is read.
      while (event.seq > seen) {
        const next = event.seq === seen + 1 ? [event] : await this.#store.listEventsSince(sourceId, seen, BACKLOG_STEP);
        for (const one of next) {
          if (one.seq > event.seq) break;
          yield one;
          seen = one.seq;
        }
        // The rest of the numbers up to this one belong to events that are gone.
        if (next.length < BACKLOG_STEP || (next.at(-1)?.seq ?? 0) >= event.seq) seen = Math.max(seen, event.seq);
      }
    }
  }
}

/** A place in line that collects from the moment it is made. */
class Subscription<Item> implements AsyncIterable<Item> {
  readonly #waiting: Item[] = [];
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

  add(item: Item): void {
    this.#waiting.push(item);
    if (this.#waiting.length > MAX_WAITING) this.end();
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
      if (next !== undefined) yield next;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
