import type { Attempt, Delivery, DeliveryState, Verdict } from "../domain/delivery.ts";
import type { DeliveryId, ListenerId } from "../domain/ids.ts";

export interface DeliveryPage {
  readonly limit: number;
  /** Only older ones than this. */
  readonly before?: DeliveryId;
  readonly state?: DeliveryState;
}

/** What is due at `now`, epoch ms. */
export interface DueDeliveries {
  readonly now: number;
  readonly limit: number;
  /** Only what comes after this one, which was read before. */
  readonly after?: Pick<Delivery, "id" | "nextAt"> | undefined;
}

/** What was found of it. */
export interface DueList {
  /** The longest due first. */
  readonly deliveries: readonly Delivery[];
  /** Something may have been left out, as when a run of the same millisecond is still being written: whoever reads looks again, as nobody tells when it has been. */
  readonly isPartial: boolean;
}

/** An attempt, and all that it changes. */
export interface AttemptRecord {
  /** As it was taken. */
  readonly delivery: Pick<Delivery, "id" | "listenerId" | "attemptCount" | "nextAt">;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
}

/** Messages on their way to listeners. They are written by `RunStore.commit`, in the transaction of their event. */
export interface DeliveryStore {
  /** Listeners that something is pending for. */
  listBusyListeners(): Promise<readonly ListenerId[]>;
  /** One host delivers to a listener, and keeps in mind what it has taken. */
  listDue(listenerId: ListenerId, due: DueDeliveries): Promise<DueList>;
  /** The earliest time after `now` at which something of this listener is due. */
  nextDueAt(listenerId: ListenerId, now: number): Promise<number | undefined>;
  /**
   * Of each: attempt, delivery and the webhook's health, as it is by then. All of them in one transaction. A webhook that is
   * deactivated by one has what is still pending marked as missed. A delivery that somebody has made due since it was taken stays due, unless
   * it is delivered by now. False, with nothing written of this one: an attempt after the same ones before
   * it was recorded already, here or by another host.
   */
  recordAttempts(records: readonly AttemptRecord[]): Promise<readonly boolean[]>;
  /** What is pending for a listener that is not active is missed. */
  missPending(listenerId: ListenerId): Promise<void>;

  getDelivery(id: DeliveryId): Promise<Delivery | undefined>;
  /** Newest first. */
  listDeliveries(listenerId: ListenerId, page: DeliveryPage): Promise<readonly Delivery[]>;
  /** Deliveries of these messages, to whomever; in the order in which they were made. */
  listDeliveriesOf(messageIds: readonly string[]): Promise<readonly Delivery[]>;
  /** Looks at each of them. */
  countDeliveries(listenerId: ListenerId): Promise<Readonly<Record<DeliveryState, number>>>;
  /** Looks at those alone that are pending, however many there were before them. */
  countPending(listenerId: ListenerId): Promise<number>;
  /** Oldest first. */
  listAttempts(id: DeliveryId): Promise<readonly Attempt[]>;
  /** Makes one pending again, due now, with all its attempts before it. Resolves to false when it is not there. */
  retryDelivery(id: DeliveryId, now: number): Promise<boolean>;
  /** Makes all in one of these states due now, with all attempts before them, that were made since then; one whose attempt is on its way, too. Resolves to their number. */
  retryDeliveries(listenerId: ListenerId, which: { states: readonly DeliveryState[]; since: number; now: number }): Promise<number>;
}
