import type { PostponedEvent } from "../domain/event.ts";
import type { DeployedId } from "../domain/ids.ts";
import type { EventPage, EventRange } from "./event-store.ts";
import type { Committed } from "./run-store.ts";

/** What one source emits now. */
export interface Released extends Committed {
  readonly sourceId: DeployedId;
}

/** Events that are emitted at a later time. They are written by `RunStore.commit`, in the transaction of their run. */
export interface PostponedStore {
  /** When the first of all is due, epoch ms. */
  nextPostponedAt(): Promise<number | undefined>;
  /** What a source has postponed, and what will reach it as a listener: newest first. A page's channel is not looked at. */
  listPostponed(sourceId: DeployedId, page: EventPage): Promise<readonly PostponedEvent[]>;
  /** Takes back some of what a source has postponed; they are emitted for nobody. Resolves to their number. */
  deletePostponed(sourceId: DeployedId, range: EventRange): Promise<number>;
  /** Makes events of what is due, a batch of it, with a delivery for each listener of that time, in one transaction. */
  releasePostponed(now: number): Promise<readonly Released[]>;
}
