import type { WebhookId } from "../../../domain/ids.ts";
import { type AutoSubscription, type Subscription, emitterKey } from "../../../domain/delivery/subscription.ts";
import { type Webhook, type WebhookChange, changedWebhook } from "../../../domain/delivery/webhook.ts";
import type { Identity, SubscriptionStore } from "../../../ports/stores/subscription-store.ts";
import { MISS } from "./deliveries.ts";
import type { Database } from "../../../database/driver.ts";
import { autoSubscriptionOf, row, rows, subscriptionOf, webhookOf } from "../../rows/rows.ts";

export interface SubscriptionWrites {
  saveWebhook(webhook: Webhook): void;
  changeWebhook(id: WebhookId, change: WebhookChange, now: number): Webhook | undefined;
  deleteWebhook(id: WebhookId): void;
  saveSubscription(subscription: Subscription): Subscription;
  deleteSubscription(which: Pick<Subscription, "emitterId" | "listenerId" | "channel">): number;
  saveAutoSubscription(subscription: AutoSubscription): void;
  saveIdentity(identity: Identity): void;
}

const SAVE_WEBHOOK = `insert into webhooks
  (id, url, name, description, active, secret, old_secrets, failing_since, inactive_reason, created_at, updated_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update set url = excluded.url, name = excluded.name, description = excluded.description, active = excluded.active,
    secret = excluded.secret, old_secrets = excluded.old_secrets, failing_since = excluded.failing_since,
    inactive_reason = excluded.inactive_reason, updated_at = excluded.updated_at`;
const SAVE_SUBSCRIPTION = `insert into subscriptions (id, emitter_id, emitter_key, listener_id, channel, created_at)
  values (?, ?, ?, ?, ?, ?) on conflict do nothing`;
const SAME_SUBSCRIPTION = "select * from subscriptions where emitter_id = ? and listener_id = ? and channel = ?";

export function listenerRemover(db: Database): (listenerId: string) => void {
  const statements = ["subscriptions", "auto_subscriptions", "deliveries"].map((table) => db.prepare(`delete from ${table} where listener_id = ?`));
  return (listenerId) => statements.forEach((statement) => statement.run(listenerId));
}

export function subscriptionWrites(db: Database): SubscriptionWrites {
  const saveWebhook = db.prepare(SAVE_WEBHOOK);
  const miss = db.prepare(MISS);
  const dropWebhook = db.prepare("delete from webhooks where id = ?");
  const dropAlerts = db.prepare("delete from alerts where via = ?");
  const removeListener = listenerRemover(db);
  const save = db.prepare(SAVE_SUBSCRIPTION);
  const same = db.prepare(SAME_SUBSCRIPTION);
  const drop = db.prepare("delete from subscriptions where emitter_id = ? and listener_id = ? and channel = ?");
  const saveAuto = db.prepare("insert into auto_subscriptions (channel, listener_id) values (?, ?) on conflict do nothing");
  const saveIdentity = db.prepare("insert into identity (user_id, workspace_id) select ?, ? where not exists (select 1 from identity)");
  const webhook = db.prepare("select * from webhooks where id = ?");
  const writes: SubscriptionWrites = {
    saveWebhook({ id, url, name, description, active, secret, oldSecrets, failingSince, inactiveReason, createdAt, updatedAt }) {
      const texts = [name, description].map((text) => text ?? null);
      const health = [failingSince ?? null, inactiveReason ?? null];
      saveWebhook.run(id, url, ...texts, active ? 1 : 0, secret, JSON.stringify(oldSecrets), ...health, createdAt, updatedAt);
      if (!active) miss.run(id);
    },
    changeWebhook(id, change, now) {
      const found = row(webhook.get(id));
      if (found === undefined) return undefined;
      const changed = changedWebhook(webhookOf(found), change, now);
      writes.saveWebhook(changed);
      return changed;
    },
    deleteWebhook(id) {
      dropWebhook.run(id);
      dropAlerts.run(id);
      removeListener(id);
    },
    saveSubscription({ id, emitterId, listenerId, channel, createdAt }) {
      save.run(id, emitterId, emitterKey(emitterId), listenerId, channel, createdAt);
      return subscriptionOf(row(same.get(emitterId, listenerId, channel)) ?? {});
    },
    deleteSubscription: ({ emitterId, listenerId, channel }) => drop.run(emitterId, listenerId, channel).changes,
    saveAutoSubscription: ({ channel, listenerId }) => void saveAuto.run(channel, listenerId),
    saveIdentity: ({ userId, workspaceId }) => void saveIdentity.run(userId, workspaceId),
  };
  return writes;
}

type SubscriptionReads = Pick<SubscriptionStore, "getWebhook" | "listWebhooks" | "listSubscriptions" | "listAutoSubscriptions" | "identity">;

export function subscriptionReads(db: Database): SubscriptionReads {
  const webhook = db.prepare("select * from webhooks where id = ?");
  const webhooks = db.prepare("select * from webhooks order by created_at desc, rowid desc");
  const subscriptions = db.prepare("select * from subscriptions order by created_at desc, rowid desc");
  const autos = db.prepare("select * from auto_subscriptions order by channel, listener_id");
  const identity = db.prepare("select * from identity");
  return {
    async getWebhook(id) {
      const found = row(webhook.get(id));
      return found === undefined ? undefined : webhookOf(found);
    },
    listWebhooks: async () => rows(webhooks.all()).map(webhookOf),
    listSubscriptions: async () => rows(subscriptions.all()).map(subscriptionOf),
    listAutoSubscriptions: async () => rows(autos.all()).map(autoSubscriptionOf),
    async identity() {
      const found = row(identity.get());
      return { userId: `u_${String(found?.["user_id"]).slice(2)}`, workspaceId: `o_${String(found?.["workspace_id"]).slice(2)}` };
    },
  };
}
