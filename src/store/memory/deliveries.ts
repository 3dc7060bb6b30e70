import { type Delivery, type DeliveryState, MOST_ATTEMPTS, healthAfter } from "../../domain/delivery/delivery.ts";
import { type DeployedId, type ListenerId, isWebhookId, numberOfDelivery } from "../../domain/ids.ts";
import { type Published, messagesOf } from "../../domain/delivery/message.ts";
import { emitterKey, keysReaching, reaches } from "../../domain/delivery/subscription.ts";
import type { AttemptRecord, DeliveryStore } from "../../ports/stores/delivery-store.ts";
import type { MemoryDelivery, Shelves } from "./shelves.ts";

/** Returns listeners with a delivery due now. */
export function publish(shelves: Shelves, published: Published): readonly ListenerId[] {
  const { sourceId, at } = published;
  const listeners = shelves.subscriptions.filter(({ emitterId }) => keysReaching(sourceId).includes(emitterKey(emitterId)));
  const woken = new Set<ListenerId>();
  for (const { id: messageId, channel, payload } of messagesOf(published, new Set(listeners.map((listener) => listener.channel)))) {
    for (const listener of listeners) {
      const { listenerId } = listener;
      const isKnown = shelves.deliveries.some(({ delivery }) => delivery.listenerId === listenerId && delivery.messageId === messageId);
      if (listener.channel !== channel || !reaches(listener, sourceId) || isKnown) continue;
      const isActive = shelves.webhooks.get(listenerId)?.active ?? shelves.sources.get(listenerId)?.source.active ?? true;
      const place = isActive ? ({ state: "pending", nextAt: at } as const) : ({ state: "missed" } as const);
      const delivery: Delivery = {
        id: `dlv_${shelves.nextNumber()}`,
        listenerId,
        messageId,
        emitterId: sourceId,
        channel,
        payload,
        attemptCount: 0,
        createdAt: at,
        ...place,
      };
      shelves.deliveries.push({ delivery, attempts: [] });
      if (isActive) woken.add(listenerId);
    }
  }
  return [...woken];
}

export function miss({ deliveries }: Shelves, listenerId: string): void {
  for (const kept of deliveries) if (kept.delivery.listenerId === listenerId && kept.delivery.state === "pending") settle(kept, "missed");
}

function settle(kept: MemoryDelivery, state: DeliveryState): void {
  const { nextAt: _settled, ...delivery } = kept.delivery;
  kept.delivery = { ...delivery, state };
}

function recordAttempt(shelves: Shelves, { delivery: { id, attemptCount, nextAt, listenerId }, attempt, verdict }: AttemptRecord): boolean {
  const kept = shelves.deliveries.find(({ delivery }) => delivery.id === id);
  if (kept === undefined || kept.delivery.attemptCount > attemptCount) return false;
  const isRetried = kept.delivery.state === "pending" && nextAt !== undefined && kept.delivery.nextAt !== nextAt;
  kept.delivery = { ...kept.delivery, attemptCount: kept.delivery.attemptCount + 1 };
  if (verdict.kind === "delivered") settle(kept, "delivered");
  else if (!isRetried && verdict.kind !== "retry") settle(kept, "failed");
  else if (!isRetried && verdict.kind === "retry" && kept.delivery.state === "pending") kept.delivery = { ...kept.delivery, nextAt: verdict.at };
  kept.attempts.push(attempt);
  const webhook = isWebhookId(listenerId) ? shelves.webhooks.get(listenerId) : undefined;
  const health = webhook === undefined ? undefined : healthAfter(webhook, { verdict: verdict.kind, ...attempt });
  if (webhook === undefined || health === undefined) return true;
  const { failingSince: _before, ...rest } = webhook;
  const failing = health.failingSince === null ? {} : { failingSince: health.failingSince };
  if (health.inactiveReason === undefined) shelves.webhooks.set(listenerId, { ...rest, ...failing });
  else {
    shelves.webhooks.set(
      listenerId,
      webhook.active ? { ...rest, ...failing, active: false, inactiveReason: health.inactiveReason, updatedAt: attempt.at } : webhook,
    );
    miss(shelves, listenerId);
  }
  return true;
}

function inTurn(one: Pick<Delivery, "id" | "nextAt">, other: Pick<Delivery, "id" | "nextAt">): number {
  return (one.nextAt ?? 0) - (other.nextAt ?? 0) || (numberOfDelivery(one.id) ?? 0) - (numberOfDelivery(other.id) ?? 0);
}

export function memoryDeliveries(shelves: Shelves): DeliveryStore {
  const of = (listenerId: ListenerId): Delivery[] =>
    shelves.deliveries.filter(({ delivery }) => delivery.listenerId === listenerId).map(({ delivery }) => delivery);
  const find = (id: string): MemoryDelivery | undefined => shelves.deliveries.find(({ delivery }) => delivery.id === id);
  const pending = (listenerId: ListenerId): Delivery[] => of(listenerId).filter(({ state }) => state === "pending");
  return {
    listBusyListeners: async () => [
      ...new Set(shelves.deliveries.filter(({ delivery }) => delivery.state === "pending").map(({ delivery }) => delivery.listenerId)),
    ],
    async listDue(listenerId, { now, limit, after }) {
      const due = pending(listenerId).filter((delivery) => (delivery.nextAt ?? 0) <= now && (after === undefined || inTurn(after, delivery) < 0));
      return { deliveries: due.toSorted(inTurn).slice(0, limit), isPartial: false };
    },
    nextDueAt: async (listenerId, now) =>
      pending(listenerId).reduce<number | undefined>((first, { nextAt = 0 }) => (nextAt <= now ? first : Math.min(first ?? nextAt, nextAt)), undefined),
    recordAttempts: async (records) => records.map((record) => recordAttempt(shelves, record)),
    missPending: async (listenerId) => miss(shelves, listenerId),
    getDelivery: async (id) => find(id)?.delivery,
    async listDeliveries(listenerId, { limit, before, state }) {
      const all = of(listenerId);
      const end =
        before === undefined
          ? all.length
          : Math.max(
              0,
              all.findIndex(({ id }) => id === before),
            );
      return all
        .slice(0, end)
        .filter((delivery) => state === undefined || delivery.state === state)
        .toReversed()
        .slice(0, limit);
    },
    listDeliveriesOf: async (messageIds) => shelves.deliveries.flatMap(({ delivery }) => (messageIds.includes(delivery.messageId) ? [delivery] : [])),
    async countDeliveries(listenerId) {
      const counts: Record<DeliveryState, number> = { pending: 0, delivered: 0, failed: 0, missed: 0 };
      for (const { state } of of(listenerId)) counts[state]++;
      return counts;
    },
    countPending: async (listenerId) => of(listenerId).filter(({ state }) => state === "pending").length,
    listAttempts: async (id) => [...(find(id)?.attempts ?? [])],
    async retryDelivery(id, now) {
      const kept = find(id);
      if (kept === undefined) return false;
      kept.delivery = { ...kept.delivery, state: "pending", nextAt: now, attemptCount: Math.min(kept.delivery.attemptCount, MOST_ATTEMPTS - 1) };
      return true;
    },
    async retryDeliveries(listenerId, { states, since, now }) {
      const wanted = shelves.deliveries.filter(
        ({ delivery }) => delivery.listenerId === listenerId && states.includes(delivery.state) && delivery.createdAt >= since,
      );
      for (const kept of wanted) kept.delivery = { ...kept.delivery, state: "pending", nextAt: now, attemptCount: 0 };
      return wanted.length;
    },
  };
}

export function received(shelves: Shelves, listenerId: DeployedId, messageId: string): void {
  for (const kept of shelves.deliveries) {
    if (kept.delivery.listenerId !== listenerId || kept.delivery.messageId !== messageId) continue;
    const { nextAt: _settled, ...delivery } = kept.delivery;
    kept.delivery = { ...delivery, state: "delivered" };
  }
}
