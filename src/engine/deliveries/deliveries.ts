import type { Attempt, Delivery, DeliveryState } from "../../domain/delivery/delivery.ts";
import { PdError } from "../../domain/errors.ts";
import type { Event } from "../../domain/event/event.ts";
import { messageIdOf } from "../../domain/delivery/message.ts";
import { type DeliveryId, type DeployedId, type ListenerId, isWebhookId, numberOfDelivery } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { DeliveryPage, DeliveryStore } from "../../ports/stores/delivery-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";

interface DeliveryPorts {
  readonly store: DeliveryStore & Pick<SubscriptionStore, "getWebhook"> & Pick<ComponentStore, "getSource">;
  readonly clock: Clock;
  readonly onRetried: (listener: ListenerId) => void;
}

interface DeliveryWishes extends Omit<DeliveryPage, "before"> {
  readonly before?: string | undefined;
}

export class Deliveries {
  readonly #ports: DeliveryPorts;

  constructor(ports: DeliveryPorts) {
    this.#ports = ports;
  }

  /** Newest first. Throws PD_DELIVERY_NOT_FOUND when `before` does not exist. */
  async list(listenerId: ListenerId, { before, ...page }: DeliveryWishes): Promise<readonly Delivery[]> {
    return this.#ports.store.listDeliveries(listenerId, { ...page, ...(before === undefined ? {} : { before: (await this.find(before)).id }) });
  }

  /** In the order in which the deliveries were created. */
  async of(sourceId: DeployedId, events: readonly Event[]): Promise<readonly { readonly delivery: Delivery; readonly attempts: readonly Attempt[] }[]> {
    const { store } = this.#ports;
    const found = await store.listDeliveriesOf(events.map((event) => messageIdOf(sourceId, event)));
    return Promise.all(found.map(async (delivery) => ({ delivery, attempts: await store.listAttempts(delivery.id) })));
  }

  counts(listenerId: ListenerId): Promise<Readonly<Record<DeliveryState, number>>> {
    return this.#ports.store.countDeliveries(listenerId);
  }

  /** Throws PD_DELIVERY_NOT_FOUND. */
  async find(id: string): Promise<Delivery> {
    const number = numberOfDelivery(id);
    const found = number === undefined ? undefined : await this.#ports.store.getDelivery(`dlv_${number}`);
    if (found === undefined) throw new PdError("PD_DELIVERY_NOT_FOUND", `Cannot find delivery "${id}": none has this id`);
    return found;
  }

  attempts(id: DeliveryId): Promise<readonly Attempt[]> {
    return this.#ports.store.listAttempts(id);
  }

  /** Throws PD_DELIVERY_NOT_FOUND, and PD_CONFLICT while the listener is inactive. */
  async retry(id: string): Promise<Delivery> {
    const { clock, store, onRetried } = this.#ports;
    const delivery = await this.find(id);
    await this.#requireActive(delivery.listenerId);
    const isRetried = await store.retryDelivery(delivery.id, clock.now());
    if (!isRetried) throw new PdError("PD_DELIVERY_NOT_FOUND", `Cannot deliver "${id}" again: it was deleted`);
    onRetried(delivery.listenerId);
    return this.find(id);
  }

  /** Returns the number. Throws PD_CONFLICT while the listener is inactive. */
  replayMissed(id: ListenerId): Promise<number> {
    return this.#retryAll(id, { states: ["missed"], since: 0 });
  }

  /**
   * Makes failed and pending deliveries due now, because their receiver may be back before their next attempt. Returns
   * their number. Throws PD_CONFLICT while the listener is inactive.
   */
  retryFailed(id: ListenerId, since: number): Promise<number> {
    return this.#retryAll(id, { states: ["failed", "pending"], since });
  }

  async #retryAll(id: ListenerId, which: { states: readonly ("failed" | "missed" | "pending")[]; since: number }): Promise<number> {
    const { clock, store, onRetried } = this.#ports;
    await this.#requireActive(id);
    const count = await store.retryDeliveries(id, { ...which, now: clock.now() });
    onRetried(id);
    return count;
  }

  async #requireActive(id: ListenerId): Promise<void> {
    const { store } = this.#ports;
    const listener = isWebhookId(id) ? await store.getWebhook(id) : (await store.getSource(id))?.source;
    if (listener?.active === true) return;
    throw new PdError("PD_CONFLICT", `Cannot deliver to ${id} now: it is not active`, {
      fix: isWebhookId(id) ? `pd webhooks update ${id} --activate` : `pd update ${id} --activate`,
    });
  }
}
