import type { SendResult } from "../domain/delivery.ts";
import { PdError } from "../domain/errors.ts";
import { type DeliveryId, type ListenerId, type WebhookId, isDeployedId, isWebhookId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { type Subscription, type SystemChannel, emitterKey } from "../domain/subscription.ts";
import { ROTATION_OVERLAP_MS, type Webhook, checkWebhookUrl, signingSecrets, webhookSecret } from "../domain/webhook.ts";
import type { EnginePorts } from "./ports.ts";

export interface WebhookChange {
  readonly url?: string;
  /** `null` takes it away. */
  readonly name?: string | null;
  readonly description?: string | null;
  readonly active?: boolean;
  /** A new secret; the old one signs as well for a day. */
  readonly rotate?: boolean;
}

/** Webhooks, and who gets what from whom. */
export class Webhooks {
  readonly #ports: EnginePorts;

  constructor(ports: EnginePorts) {
    this.#ports = ports;
  }

  /** Throws PD_BAD_INPUT for an address that nothing can be delivered to. */
  async create({ url, name, description }: { url: string } & Pick<WebhookChange, "name" | "description">): Promise<Webhook> {
    const { clock, store } = this.#ports;
    const now = clock.now();
    const webhook: Webhook = {
      id: `wh_${clock.randomText(7)}`,
      url: checkWebhookUrl(url),
      ...(name ? { name } : {}),
      ...(description ? { description } : {}),
      active: true,
      secret: webhookSecret(clock.randomText(32)),
      oldSecrets: [],
      createdAt: now,
      updatedAt: now,
    };
    await store.saveWebhook(webhook);
    return webhook;
  }

  /** Throws PD_WEBHOOK_NOT_FOUND. */
  find(id: string): Webhook {
    const found = isWebhookId(id) ? this.#ports.store.getWebhook(id) : undefined;
    if (found === undefined) throw new PdError("PD_WEBHOOK_NOT_FOUND", `Cannot find webhook "${id}": none has this id`);
    return found;
  }

  async update(id: string, { url, name, description, active, rotate }: WebhookChange): Promise<Webhook> {
    const { clock, store } = this.#ports;
    const { name: oldName, description: oldDescription, failingSince, inactiveReason, ...before } = this.find(id);
    const now = clock.now();
    const isBackOn = active === true && !before.active;
    const health = isBackOn ? {} : { failingSince, inactiveReason };
    const texts = { name: name === undefined ? oldName : name, description: description === undefined ? oldDescription : description };
    const webhook: Webhook = {
      ...before,
      ...present({ ...texts, ...health }),
      url: url === undefined ? before.url : checkWebhookUrl(url),
      active: active ?? before.active,
      ...(rotate === true ? this.#rotated(before, now) : {}),
      updatedAt: now,
    };
    await store.saveWebhook(webhook);
    return webhook;
  }

  async delete(id: string): Promise<void> {
    await this.#ports.store.deleteWebhook(this.find(id).id);
  }

  /** Sends a message now, beside all deliveries: to see whether the receiver works. */
  test(id: string, event: JsonValue | undefined): Promise<SendResult> {
    const { clock, sender, signal } = this.#ports;
    const webhook = this.find(id);
    const payload = JSON.stringify(event ?? { test: true, sent_by: "headwater", webhook_id: webhook.id });
    const headers = { "x-pd-emitter-id": "", "x-pd-event-name": "" };
    return sender.send({ url: webhook.url, id: `test-${clock.randomText(16)}`, payload, secrets: signingSecrets(webhook, clock.now()), headers }, signal);
  }

  /** Due again are deliveries that were missed while the webhook was inactive; resolves to their number. */
  async replayMissed(id: WebhookId): Promise<number> {
    return this.#retry(id, { states: ["missed"], since: 0 });
  }

  /** Due again are all that have failed since; resolves to their number. */
  async retryFailed(id: string, since: number): Promise<number> {
    return this.#retry(this.find(id).id, { states: ["failed"], since });
  }

  /** Throws PD_DELIVERY_NOT_FOUND. */
  async retry(id: DeliveryId): Promise<void> {
    const { clock, store, onDeliveries } = this.#ports;
    const delivery = store.getDelivery(id);
    const isRetried = delivery !== undefined && (await store.retryDelivery(id, clock.now()));
    if (!isRetried) throw new PdError("PD_DELIVERY_NOT_FOUND", `Cannot deliver "${id}" again: no delivery has this id`);
    onDeliveries([delivery.listenerId]);
  }

  /** Throws PD_BAD_INPUT for an emitter that can be none, PD_NOT_FOUND for one or a listener that is not there. */
  async subscribe({ emitterId, listenerId, channel }: { emitterId: string; listenerId: string; channel: string }): Promise<Subscription> {
    const { clock, store } = this.#ports;
    const key = emitterKey(emitterId);
    if (isDeployedId(key) && store.getSource(key) === undefined)
      throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot subscribe to ${emitterId}: no source has this id`);
    const listener = this.#listener(listenerId);
    return store.saveSubscription({ id: `sub_${clock.randomText(7)}`, emitterId, listenerId: listener, channel, createdAt: clock.now() });
  }

  async subscribeAutomatically(channel: SystemChannel, listenerId: string): Promise<void> {
    await this.#ports.store.saveAutoSubscription({ channel, listenerId: this.#listener(listenerId) });
  }

  /** Throws PD_NOT_FOUND when there is no such subscription. */
  async unsubscribe({ emitterId, listenerId, channel }: { emitterId: string; listenerId: string; channel: string }): Promise<void> {
    const isOne = isWebhookId(listenerId) || isDeployedId(listenerId);
    const gone = isOne ? await this.#ports.store.deleteSubscription({ emitterId, listenerId, channel }) : 0;
    if (gone === 0)
      throw new PdError("PD_NOT_FOUND", `Cannot end a subscription of ${listenerId} to ${emitterId} on channel "${channel}": there is none`, {
        fix: "pd subscriptions list",
      });
  }

  #listener(id: string): ListenerId {
    const { store } = this.#ports;
    if (isWebhookId(id) && store.getWebhook(id) !== undefined) return id;
    if (isDeployedId(id) && store.getSource(id) !== undefined) return id;
    throw new PdError("PD_NOT_FOUND", `Cannot subscribe ${JSON.stringify(id)}: no webhook and no source has this id`, { fix: "pd webhooks list" });
  }

  async #retry(id: WebhookId, which: { states: readonly ("failed" | "missed")[]; since: number }): Promise<number> {
    const { clock, store, onDeliveries } = this.#ports;
    const count = await store.retryDeliveries(id, { ...which, now: clock.now() });
    if (count > 0) onDeliveries([id]);
    return count;
  }

  #rotated({ secret, oldSecrets }: Pick<Webhook, "secret" | "oldSecrets">, now: number): Pick<Webhook, "secret" | "oldSecrets"> {
    const still = oldSecrets.filter(({ until }) => until > now);
    return { secret: webhookSecret(this.#ports.clock.randomText(32)), oldSecrets: [{ secret, until: now + ROTATION_OVERLAP_MS }, ...still] };
  }
}

/** Without members that are empty. */
function present(members: {
  name: string | null | undefined;
  description: string | null | undefined;
  failingSince?: number | undefined;
  inactiveReason?: string | undefined;
}): Pick<Webhook, "name" | "description" | "failingSince" | "inactiveReason"> {
  const { name, description, failingSince, inactiveReason } = members;
  return {
    ...(name ? { name } : {}),
    ...(description ? { description } : {}),
    ...(failingSince === undefined ? {} : { failingSince }),
    ...(inactiveReason === undefined ? {} : { inactiveReason }),
  };
}
