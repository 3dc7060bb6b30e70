import type { Event } from "../../domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { Committed } from "./run-store.ts";

export interface EventPage {
  readonly limit: number;
  /** Exclusive. */
  readonly beforeSeq?: number;
  /** Exclusive. */
  readonly afterSeq?: number;
  readonly channel?: string;
}

export interface EventRange {
  readonly fromSeq?: number;
  readonly toSeq?: number;
  readonly channel?: string;
}

/** `since` is the start of the invocation, epoch ms. */
export interface EventOrigin {
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly since: number;
}

export interface EventStore {
  /** Newest first. */
  listEvents(sourceId: DeployedId, page: EventPage): Promise<readonly Event[]>;
  /** Oldest first. */
  listEventsSince(sourceId: DeployedId, afterSeq: number, limit: number): Promise<readonly Event[]>;
  /**
   * Oldest first, with events that were emitted again. The search from `since` is limited, so later events may be
   * missing.
   */
  listEventsOf(of: EventOrigin, limit: number): Promise<readonly Event[]>;
  /** Highest number ever used. 0 before the first event. */
  lastSeq(sourceId: DeployedId): Promise<number>;
  /** Returns `lastSeq` + 1 when no kept event is that new. */
  firstSeqSince(sourceId: DeployedId, at: number): Promise<number>;
  countEvents(sourceId: DeployedId, channel?: string): Promise<number>;
  /**
   * Uses a new number, with deliveries for current listeners, in one transaction. Skips dedupe. Undefined when the
   * event is gone.
   */
  emitAgain(sourceId: DeployedId, seq: number, at: number): Promise<Committed | undefined>;
  /** Inclusive. An omitted end is open. A failure may delete the first events of the range. */
  deleteEvents(sourceId: DeployedId, range: EventRange): Promise<number>;
}
