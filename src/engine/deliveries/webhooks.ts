import type { Clock } from "../../ports/clock.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { Sender } from "../../ports/sender.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import type { SendResult } from "../../domain/delivery/delivery.ts";
import { PdError } from "../../domain/errors.ts";
import { type ListenerId, type WebhookId, isDeployedId, isWebhookId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { type Subscription, type SystemChannel, emitterKey } from "../../domain/delivery/subscription.ts";
import { type Webhook, type WebhookChange, checkWebhookUrl, signingSecrets, webhookSecret } from "../../domain/delivery/webhook.ts";

export interface WebhookWishes extends Omit<WebhookChange, "secret"> {
  /** The old secret keeps signing for a day. */
  readonly rotate?: boolean;
}

interface WebhookPorts {
  readonly store: SubscriptionStore & Pick<ComponentStore, "getSource">;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly onWebhookChanged: (id: WebhookId) => void;
  readonly signal: AbortSignal;
}

export class Webhooks {
  readonly #ports: WebhookPorts;

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** Throws PD_BAD_INPUT for a URL that cannot receive deliveries. */
  async create({ url, name, description }: { url: string } & Pick<WebhookWishes, "name" | "description">): Promise<Webhook> {
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

  list(): Promise<readonly Webhook[]> {
    return this.#ports.store.listWebhooks();
  }

  subscriptions(): Promise<readonly Subscription[]> {
    return this.#ports.store.listSubscriptions();
  }

  /** Throws PD_WEBHOOK_NOT_FOUND. */
  async find(id: string): Promise<Webhook> {
    const found = isWebhookId(id) ? await this.#ports.store.getWebhook(id) : undefined;
    if (found === undefined) throw new PdError("PD_WEBHOOK_NOT_FOUND", `Cannot find webhook "${id}": none has this id`);
    return found;
  }

  async update(id: string, { rotate, ...change }: WebhookWishes): Promise<Webhook> {
    const { clock, store, onDeliveries, onWebhookChanged } = this.#ports;
    const { id: known, active: wasActive } = await this.find(id);
    const url = change.url === undefined ? {} : { url: checkWebhookUrl(change.url) };
    const secret = rotate === true ? { secret: webhookSecret(clock.randomText(32)) } : {};
    const changed = await store.changeWebhook(known, { ...change, ...url, ...secret }, clock.now());
    onWebhookChanged(known);
    if (changed === undefined) return this.find(id);
    if (changed.active && !wasActive) onDeliveries([known]);
    return changed;
  }

  async delete(id: string): Promise<void> {
    const { id: known } = await this.find(id);
    await this.#ports.store.deleteWebhook(known);
    this.#ports.onWebhookChanged(known);
  }

  /** Sent now, outside all deliveries. */
  async test(id: string, event: JsonValue | undefined): Promise<SendResult> {
    const { clock, sender, signal } = this.#ports;
    const webhook = await this.find(id);
    const payload = JSON.stringify(event ?? { test: true, sent_by: "headwater", webhook_id: webhook.id });
    const secrets = signingSecrets(webhook, clock.now());
    return sender.send({ url: webhook.url, id: `test-${clock.randomText(16)}`, payload, secrets, emitterId: "", eventName: "" }, signal);
  }

  /**
   * Throws PD_BAD_INPUT for an invalid emitter id, PD_SOURCE_NOT_FOUND or PD_NOT_FOUND for a missing emitter or
   * listener.
   */
  async subscribe({ emitterId, listenerId, channel }: { emitterId: string; listenerId: string; channel: string }): Promise<Subscription> {
    const { clock, store } = this.#ports;
    const key = emitterKey(emitterId);
    if (isDeployedId(key) && (await store.getSource(key)) === undefined)
      throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot subscribe to ${emitterId}: no source has this id`);
    const listener = await this.#listener(listenerId);
    return store.saveSubscription({ id: `sub_${clock.randomText(7)}`, emitterId, listenerId: listener, channel, createdAt: clock.now() });
  }

  async subscribeAutomatically(channel: SystemChannel, listenerId: string): Promise<void> {
    await this.#ports.store.saveAutoSubscription({ channel, listenerId: await this.#listener(listenerId) });
  }

  /** Throws PD_NOT_FOUND. */
  async unsubscribe({ emitterId, listenerId, channel }: { emitterId: string; listenerId: string; channel: string }): Promise<void> {
    const isOne = isWebhookId(listenerId) || isDeployedId(listenerId);
    const gone = isOne ? await this.#ports.store.deleteSubscription({ emitterId, listenerId, channel }) : 0;
    if (gone === 0)
      throw new PdError("PD_NOT_FOUND", `Cannot end a subscription of ${listenerId} to ${emitterId} on channel "${channel}": it does not exist`, {
        fix: "pd subscriptions list",
      });
  }

  async #listener(id: string): Promise<ListenerId> {
    const { store } = this.#ports;
    if (isWebhookId(id) && (await store.getWebhook(id)) !== undefined) return id;
    if (isDeployedId(id) && (await store.getSource(id)) !== undefined) return id;
    throw new PdError("PD_NOT_FOUND", `Cannot subscribe ${JSON.stringify(id)}: no webhook or source has this id`, { fix: "pd webhooks list" });
  }
}
