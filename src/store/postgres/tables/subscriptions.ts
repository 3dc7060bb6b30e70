import { emitterKey } from "../../../domain/delivery/subscription.ts";
import { type Webhook, changedWebhook } from "../../../domain/delivery/webhook.ts";
import type { Identity, SubscriptionStore } from "../../../ports/stores/subscription-store.ts";
import { autoSubscriptionOf, subscriptionOf, webhookOf } from "../../rows/rows.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { MISS } from "./deliveries.ts";

const SAVE_WEBHOOK = `insert into webhooks
  (id, url, name, description, active, secret, old_secrets, failing_since, inactive_reason, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  on conflict (id) do update set url = excluded.url, name = excluded.name, description = excluded.description, active = excluded.active,
    secret = excluded.secret, old_secrets = excluded.old_secrets, failing_since = excluded.failing_since,
    inactive_reason = excluded.inactive_reason, updated_at = excluded.updated_at`;
const SAVE_SUBSCRIPTION = `insert into subscriptions (id, emitter_id, emitter_key, listener_id, channel, created_at)
  values ($1, $2, $3, $4, $5, $6) on conflict do nothing`;
const SAME_SUBSCRIPTION = "select * from subscriptions where emitter_id = $1 and listener_id = $2 and channel = $3";

/** Removes subscriptions and deliveries of listeners that are deleted. */
export async function removeListeners(sql: Sql, ids: readonly string[]): Promise<void> {
  for (const table of ["subscriptions", "auto_subscriptions", "deliveries"]) await sql.run(`delete from ${table} where listener_id = any ($1::text[])`, ids);
}

export async function saveIdentity(sql: Sql, { userId, workspaceId }: Identity): Promise<void> {
  await sql.run("insert into identity (user_id, workspace_id) select $1, $2 where not exists (select 1 from identity)", userId, workspaceId);
}

export function subscriptionTables(db: Database): SubscriptionStore {
  return {
    saveWebhook: (webhook) => db.transaction((sql) => saveWebhook(sql, webhook)),
    changeWebhook: (id, change, now) =>
      db.transaction(async (sql) => {
        const found = await sql.first("select * from webhooks where id = $1 for update", id);
        if (found === undefined) return undefined;
        const changed = changedWebhook(webhookOf(found), change, now);
        await saveWebhook(sql, changed);
        return changed;
      }),
    deleteWebhook: (id) =>
      db.transaction(async (sql) => {
        await sql.run("delete from alerts where via = $1", id);
        await sql.run("delete from webhooks where id = $1", id);
        await removeListeners(sql, [id]);
      }),
    async getWebhook(id) {
      const found = await db.first("select * from webhooks where id = $1", id);
      return found === undefined ? undefined : webhookOf(found);
    },
    listWebhooks: async () => (await db.all("select * from webhooks order by created_at desc, seq desc")).map(webhookOf),
    async saveSubscription({ id, emitterId, listenerId, channel, createdAt }) {
      return db.transaction(async (sql) => {
        await sql.run(SAVE_SUBSCRIPTION, id, emitterId, emitterKey(emitterId), listenerId, channel, createdAt);
        return subscriptionOf((await sql.first(SAME_SUBSCRIPTION, emitterId, listenerId, channel)) ?? {});
      });
    },
    deleteSubscription: async ({ emitterId, listenerId, channel }) =>
      (await db.run("delete from subscriptions where emitter_id = $1 and listener_id = $2 and channel = $3", emitterId, listenerId, channel)).count,
    listSubscriptions: async () => (await db.all("select * from subscriptions order by created_at desc, seq desc")).map(subscriptionOf),
    async saveAutoSubscription({ channel, listenerId }) {
      await db.run("insert into auto_subscriptions (channel, listener_id) values ($1, $2) on conflict do nothing", channel, listenerId);
    },
    listAutoSubscriptions: async () => (await db.all("select * from auto_subscriptions order by channel, listener_id")).map(autoSubscriptionOf),
    async identity() {
      const found = await db.first("select * from identity");
      return { userId: `u_${String(found?.["user_id"]).slice(2)}`, workspaceId: `o_${String(found?.["workspace_id"]).slice(2)}` };
    },
  };
}

async function saveWebhook(sql: Sql, webhook: Webhook): Promise<void> {
  const { id, url, name, description, active, secret, oldSecrets, failingSince, inactiveReason, createdAt, updatedAt } = webhook;
  const health = [failingSince ?? null, inactiveReason ?? null];
  await sql.run(SAVE_WEBHOOK, id, url, name ?? null, description ?? null, active, secret, JSON.stringify(oldSecrets), ...health, createdAt, updatedAt);
  if (!active) await sql.run(MISS, id);
}
