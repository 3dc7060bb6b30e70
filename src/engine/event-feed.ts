import type { Event } from "../domain/event.ts";
import type { DeployedId, InvocationId } from "../domain/ids.ts";
import type { LogLine, Outcome } from "../domain/invocation.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { EventStore } from "../ports/event-store.ts";

/** What can be watched of a source while it works. */
export type Observation =
  | { readonly kind: "started"; readonly id: InvocationId; readonly at: number; readonly trigger: Trigger }
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
  | { readonly kind: "updated"; readonly at: number; readonly version: string };

type Listener<Item> = (item: Item) => void;

/** Events read at a time from the backlog. */
const BACKLOG_STEP = 200;
/** A reader that lets so many items wait is cut off. */
const MAX_WAITING = 5000;

/** Tells readers what is new; a reader that begins at a number first gets what it missed, then what comes, without gap or double. */
export class EventFeed {
  readonly #store: EventStore;
  readonly #events = new Map<DeployedId, Set<Listener<Event>>>();
  readonly #observations = new Map<DeployedId, Set<Listener<Observation>>>();

  constructor(store: EventStore) {
    this.#store = store;
  }

  announce(sourceId: DeployedId, events: readonly Event[]): void {
    const listeners = this.#events.get(sourceId);
    if (listeners !== undefined) for (const event of events) for (const listener of listeners) listener(event);
  }

  observe(sourceId: DeployedId, observation: Observation): void {
    const listeners = this.#observations.get(sourceId);
    if (listeners !== undefined) for (const listener of listeners) listener(observation);
  }

  /** Ends when the signal aborts, or when the reader is too slow. */
  async *eventsSince(sourceId: DeployedId, afterSeq: number, signal: AbortSignal): AsyncGenerator<Event> {
    const live = new Subscription<Event>(this.#events, sourceId, signal);
    let seen = afterSeq;
    for (;;) {
      const missed = this.#store.listEventsSince(sourceId, seen, BACKLOG_STEP);
      for (const event of missed) {
        yield event;
        seen = event.seq;
      }
      if (missed.length < BACKLOG_STEP) break;
    }
    for await (const event of live) if (event.seq > seen) yield event;
  }

  observations(sourceId: DeployedId, signal: AbortSignal): AsyncIterable<Observation> {
    return new Subscription<Observation>(this.#observations, sourceId, signal);
  }
}

/** A place in line that collects from the moment it is made. */
class Subscription<Item> implements AsyncIterable<Item> {
  readonly #waiting: Item[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  constructor(all: Map<DeployedId, Set<Listener<Item>>>, sourceId: DeployedId, signal: AbortSignal) {
    const listeners = all.get(sourceId) ?? new Set();
    all.set(sourceId, listeners);
    const end = (): void => {
      this.#isOver = true;
      listeners.delete(add);
      if (listeners.size === 0 && all.get(sourceId) === listeners) all.delete(sourceId);
      this.#wake();
    };
    const add = (item: Item): void => {
      this.#waiting.push(item);
      if (this.#waiting.length > MAX_WAITING) end();
      else this.#wake();
    };
    listeners.add(add);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
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
