import type { WebhookId } from "../domain/ids.ts";
import type { AutoSubscription, Subscription } from "../domain/subscription.ts";
import type { Webhook, WebhookChange } from "../domain/webhook.ts";

/** Who owns a server. */
export interface Identity {
  readonly userId: `u_${string}`;
  readonly workspaceId: `o_${string}`;
}

/** Webhooks, and who gets what from whom. Reads are quick and see every finished write. */
export interface SubscriptionStore {
  saveWebhook(webhook: Webhook): Promise<void>;
  /** As it is in the store is what is changed. What is pending for one that becomes inactive is missed. `undefined`: it is not there. */
  changeWebhook(id: WebhookId, change: WebhookChange, now: number): Promise<Webhook | undefined>;
  /** Its subscriptions and deliveries go with it. */
  deleteWebhook(id: WebhookId): Promise<void>;
  getWebhook(id: WebhookId): Promise<Webhook | undefined>;
  /** Newest first. */
  listWebhooks(): Promise<readonly Webhook[]>;

  /** One that is there already stays as it is. Resolves to the one that is kept. */
  saveSubscription(subscription: Subscription): Promise<Subscription>;
  /** Resolves to the number that went. */
  deleteSubscription(which: Pick<Subscription, "emitterId" | "listenerId" | "channel">): Promise<number>;
  /** Newest first. */
  listSubscriptions(): Promise<readonly Subscription[]>;
  saveAutoSubscription(subscription: AutoSubscription): Promise<void>;
  listAutoSubscriptions(): Promise<readonly AutoSubscription[]>;

  /** The same for the life of the database. */
  identity(): Promise<Identity>;
}
