import { PdError } from "../../../domain/errors.ts";
import type { Event, PostponedEvent } from "../../../domain/event/event.ts";
import type { DeployedId, ListenerId } from "../../../domain/ids.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EventPage, EventRange, EventStore } from "../../../ports/stores/event-store.ts";
import type { PostponedStore } from "../../../ports/stores/postponed-store.ts";
import type { EventFeed } from "../commits/event-feed.ts";

interface EventPorts {
  readonly store: EventStore & Pick<PostponedStore, "listPostponed" | "deletePostponed">;
  readonly feed: EventFeed;
  readonly clock: Clock;
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly onEventsDeleted: (sourceId: DeployedId, range: EventRange) => Promise<void>;
}

interface Followed {
  /** Number of the last event before `events`. */
  readonly after: number;
  /** Events after `after` that are no longer kept, so the reader misses them. */
  readonly gone: number;
  readonly events: AsyncIterable<readonly Event[]>;
}

export class EventHistory {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  list(sourceId: DeployedId, page: EventPage): Promise<readonly Event[]> {
    return this.#ports.store.listEvents(sourceId, page);
  }

  /** Counts all channels when `channel` is omitted. */
  count(sourceId: DeployedId, channel?: string): Promise<number> {
    return this.#ports.store.countEvents(sourceId, channel);
  }

  /** Emits a new event, without dedupe. Throws PD_NOT_FOUND. */
  async emitAgain(sourceId: DeployedId, seq: number): Promise<Event> {
    const { store, clock, feed, onDeliveries } = this.#ports;
    const stored = await store.emitAgain(sourceId, seq, clock.now());
    const [event] = stored?.events ?? [];
    if (stored === undefined || event === undefined)
      throw new PdError("PD_NOT_FOUND", `Cannot emit event ${seq} of ${sourceId} again: it was deleted or never existed`);
    feed.announce(sourceId, stored);
    onDeliveries(stored.listeners);
    return event;
  }

  async delete(sourceId: DeployedId, range: EventRange): Promise<number> {
    const { store, onEventsDeleted } = this.#ports;
    const count = await store.deleteEvents(sourceId, range);
    await onEventsDeleted(sourceId, range);
    return count;
  }

  listPostponed(sourceId: DeployedId, page: EventPage): Promise<readonly PostponedEvent[]> {
    return this.#ports.store.listPostponed(sourceId, page);
  }

  deletePostponed(sourceId: DeployedId, range: EventRange): Promise<number> {
    return this.#ports.store.deletePostponed(sourceId, range);
  }

  /**
   * Yields the kept events after `wanted` in batches, then new events. Without `wanted`, only new events. A number higher than that of the last event comes
   * from another database, such as one replaced by a backup, and also means only new events.
   */
  async follow(sourceId: DeployedId, wanted: number | undefined, signal: AbortSignal): Promise<Followed> {
    const { store, feed } = this.#ports;
    const last = await store.lastSeq(sourceId);
    const after = Math.min(wanted ?? last, last);
    const [first] = after === last ? [] : await store.listEventsSince(sourceId, after, 1);
    const gone = (first?.seq ?? last + 1) - after - 1;
    return { after, gone, events: feed.eventsSince(sourceId, after, signal) };
  }
}
