import type { PostponedEvent } from "../../domain/event/event.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { EventPage, EventRange } from "./event-store.ts";
import type { Committed } from "./run-store.ts";

export interface Released extends Committed {
  readonly sourceId: DeployedId;
}

/** Written by `RunStore.commit`, in the transaction of the run. */
export interface PostponedStore {
  /** When the first one is due, epoch ms. */
  nextPostponedAt(): Promise<number | undefined>;
  /** Newest first: what a source has postponed, and what it will receive. Ignores the page's channel. */
  listPostponed(sourceId: DeployedId, page: EventPage): Promise<readonly PostponedEvent[]>;
  /** Cancels events before they are emitted. Returns their number. */
  deletePostponed(sourceId: DeployedId, range: EventRange): Promise<number>;
  /** Emits a batch of due events, with deliveries for current listeners, in one transaction. */
  releasePostponed(now: number): Promise<readonly Released[]>;
}
