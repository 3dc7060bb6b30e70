import type { PostponedEvent } from "../../domain/event/event.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { EventPage, EventRange } from "./event-store.ts";
import type { Committed } from "./run-store.ts";

export interface Released extends Committed {
  readonly sourceId: DeployedId;
}

/** `RunStore.commit` writes them, in the transaction of the run. */
export interface PostponedStore {
  /** Epoch ms. */
  nextPostponedAt(): Promise<number | undefined>;
  /** Newest first, with what the source will receive. Ignores the page's channel. */
  listPostponed(sourceId: DeployedId, page: EventPage): Promise<readonly PostponedEvent[]>;
  /** Returns the number. */
  deletePostponed(sourceId: DeployedId, range: EventRange): Promise<number>;
  /** Emits a batch of due events, with deliveries for current listeners, in one transaction. */
  releasePostponed(now: number): Promise<readonly Released[]>;
}
