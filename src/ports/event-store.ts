import type { Event } from "../domain/event.ts";
import type { DeployedId, InvocationId } from "../domain/ids.ts";
import type { Committed } from "./run-store.ts";

export interface EventPage {
  readonly limit: number;
  /** Only older ones than this number. */
  readonly beforeSeq?: number;
  /** Only newer ones than this number. */
  readonly afterSeq?: number;
  readonly channel?: string;
}

export interface EventRange {
  readonly fromSeq?: number;
  readonly toSeq?: number;
  readonly channel?: string;
}

/** Whose events are meant, and since when there may be any, epoch ms. */
export interface EventOrigin {
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly since: number;
}

/** Kept events of sources, in the order of their numbers. */
export interface EventStore {
  /** Newest first. */
  listEvents(sourceId: DeployedId, page: EventPage): Promise<readonly Event[]>;
  /** Oldest first: what a reader that has seen `afterSeq` misses, at most `limit`. */
  listEventsSince(sourceId: DeployedId, afterSeq: number, limit: number): Promise<readonly Event[]>;
  /**
   * What an invocation has emitted and is still kept, the oldest first, with what somebody has emitted once more. It
   * looks at so many events from the time on at which the invocation began: what was emitted much later may be missing.
   */
  listEventsOf(of: EventOrigin, limit: number): Promise<readonly Event[]>;
  /** The number that the newest event ever had; 0 before the first. */
  lastSeq(sourceId: DeployedId): Promise<number>;
  /** The number of the first kept event that was stored at this time or later; one more than the newest ever had when there is none. */
  firstSeqSince(sourceId: DeployedId, at: number): Promise<number>;
  /** Without a channel, of all. */
  countEvents(sourceId: DeployedId, channel?: string): Promise<number>;
  /**
   * Stores a kept event once more, under a number of its own, with a delivery for each listener of that time, in one
   * transaction; dedupe has no say. `undefined`: there is no such event any more.
   */
  emitAgain(sourceId: DeployedId, seq: number, at: number): Promise<Committed | undefined>;
  /** Both ends belong to the range; an open end reaches as far as there are events. When it fails in the middle, the first events of the range may be deleted. */
  deleteEvents(sourceId: DeployedId, range: EventRange): Promise<number>;
}
