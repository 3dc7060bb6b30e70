import type { WebhookId } from "../../domain/ids.ts";
import type { AutoSubscription, Subscription } from "../../domain/delivery/subscription.ts";
import type { Webhook, WebhookChange } from "../../domain/delivery/webhook.ts";

export interface Identity {
  readonly userId: `u_${string}`;
  readonly workspaceId: `o_${string}`;
}

/** Reads are fast and see every finished write. */
export interface SubscriptionStore {
  saveWebhook(webhook: Webhook): Promise<void>;
  /** Pending deliveries of a webhook that becomes inactive are missed. Undefined when the webhook does not exist. */
  changeWebhook(id: WebhookId, change: WebhookChange, now: number): Promise<Webhook | undefined>;
  /** Includes its subscriptions and deliveries. */
  deleteWebhook(id: WebhookId): Promise<void>;
  getWebhook(id: WebhookId): Promise<Webhook | undefined>;
  /** Newest first. */
  listWebhooks(): Promise<readonly Webhook[]>;

  /** Returns the existing subscription if there is one. */
  saveSubscription(subscription: Subscription): Promise<Subscription>;
  /** Returns the number. */
  deleteSubscription(which: Pick<Subscription, "emitterId" | "listenerId" | "channel">): Promise<number>;
  /** Newest first. */
  listSubscriptions(): Promise<readonly Subscription[]>;
  saveAutoSubscription(subscription: AutoSubscription): Promise<void>;
  listAutoSubscriptions(): Promise<readonly AutoSubscription[]>;

  /** Constant for the life of the database. */
  identity(): Promise<Identity>;
}
