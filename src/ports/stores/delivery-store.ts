import type { Attempt, Delivery, DeliveryState, Verdict } from "../../domain/delivery/delivery.ts";
import type { DeliveryId, ListenerId } from "../../domain/ids.ts";

export interface DeliveryPage {
  readonly limit: number;
  /** Exclusive. */
  readonly before?: DeliveryId;
  readonly state?: DeliveryState;
}

/** `now` is in epoch ms. */
export interface DueDeliveries {
  readonly now: number;
  readonly limit: number;
  /** Continues an earlier read. */
  readonly after?: Pick<Delivery, "id" | "nextAt"> | undefined;
}

export interface DueList {
  /** Longest due first. */
  readonly deliveries: readonly Delivery[];
  /** Something may be missing, such as deliveries of a run that is still being written. The caller is not notified and must read again. */
  readonly isPartial: boolean;
}

export interface AttemptRecord {
  /** As read before the attempt. */
  readonly delivery: Pick<Delivery, "id" | "listenerId" | "attemptCount" | "nextAt">;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
}

/** `RunStore.commit` writes them, in the transaction of the event. */
export interface DeliveryStore {
  /** Listeners with pending deliveries. */
  listBusyListeners(): Promise<readonly ListenerId[]>;
  /** Only one host delivers to a listener. It must remember what is in flight. */
  listDue(listenerId: ListenerId, due: DueDeliveries): Promise<DueList>;
  nextDueAt(listenerId: ListenerId, now: number): Promise<number | undefined>;
  /**
   * Records attempts, deliveries and webhook health in one transaction. Pending deliveries of a deactivated webhook
   * become missed. A delivery retried by hand during the attempt stays due, unless it was delivered. False for an
   * attempt that is already recorded, here or by another host.
   */
  recordAttempts(records: readonly AttemptRecord[]): Promise<readonly boolean[]>;
  /** For an inactive listener. */
  missPending(listenerId: ListenerId): Promise<void>;

  getDelivery(id: DeliveryId): Promise<Delivery | undefined>;
  /** Newest first. */
  listDeliveries(listenerId: ListenerId, page: DeliveryPage): Promise<readonly Delivery[]>;
  /** To any listener, oldest first. */
  listDeliveriesOf(messageIds: readonly string[]): Promise<readonly Delivery[]>;
  /** Reads every delivery. */
  countDeliveries(listenerId: ListenerId): Promise<Readonly<Record<DeliveryState, number>>>;
  /** Reads only pending deliveries. */
  countPending(listenerId: ListenerId): Promise<number>;
  /** Oldest first. */
  listAttempts(id: DeliveryId): Promise<readonly Attempt[]>;
  /** Makes it due now, with at least one more attempt. False when it does not exist. */
  retryDelivery(id: DeliveryId, now: number): Promise<boolean>;
  /** Makes deliveries created at `since` or later due now, with all attempts, even while one is in flight. Returns their number. */
  retryDeliveries(listenerId: ListenerId, which: { states: readonly DeliveryState[]; since: number; now: number }): Promise<number>;
}
