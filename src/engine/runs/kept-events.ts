import type { Event, PostponedEvent } from "../../domain/event.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { EventPage, EventRange, EventStore } from "../../ports/event-store.ts";
import type { PostponedStore } from "../../ports/postponed-store.ts";
import type { EventFeed } from "./event-feed.ts";

interface EventPorts {
  readonly store: EventStore & Pick<PostponedStore, "listPostponed" | "deletePostponed">;
  readonly feed: EventFeed;
}

/** Events of sources: those that are kept, those that are postponed, those that come. */
export class KeptEvents {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  /** Newest first. */
  list(sourceId: DeployedId, page: EventPage): Promise<readonly Event[]> {
    return this.#ports.store.listEvents(sourceId, page);
  }

  /** Without a channel, of all. */
  count(sourceId: DeployedId, channel?: string): Promise<number> {
    return this.#ports.store.countEvents(sourceId, channel);
  }

  delete(sourceId: DeployedId, range: EventRange): Promise<number> {
    return this.#ports.store.deleteEvents(sourceId, range);
  }

  /** Those whose time has not come. */
  listPostponed(sourceId: DeployedId, page: EventPage): Promise<readonly PostponedEvent[]> {
    return this.#ports.store.listPostponed(sourceId, page);
  }

  deletePostponed(sourceId: DeployedId, range: EventRange): Promise<number> {
    return this.#ports.store.deletePostponed(sourceId, range);
  }

  /** What was kept after this number, and then what comes; without a number, what comes from now on. */
  async follow(sourceId: DeployedId, after: number | undefined, signal: AbortSignal): Promise<AsyncIterable<Event>> {
    return this.#ports.feed.eventsSince(sourceId, after ?? (await this.#ports.store.lastSeq(sourceId)), signal);
  }
}
