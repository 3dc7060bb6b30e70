import type * as z from "zod";
import { api } from "../../../api/api.ts";
import type { WebhookRecord } from "../../../api/webhooks.ts";
import type { ListenerId } from "../../../domain/ids.ts";
import type { Webhook } from "../../../domain/delivery/webhook.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type AnswerOf, type Route, pageOf, route } from "../route.ts";
import { attemptRecord, deliveryRecord, webhookRecord } from "./webhook-records.ts";

const { webhooks, deliveries } = api;

const MOST_EVENTS = 100;

export function webhookRoutes(engine: Engine): readonly Route[] {
  const recordOf = async (webhook: Webhook): Promise<WebhookRecord> =>
    webhookRecord(webhook, { owner: engine.owner, counts: await engine.deliveries.counts(webhook.id) });
  const show = async (webhook: Webhook, more: Partial<WebhookRecord> = {}) => ({ data: { ...(await recordOf(webhook)), ...more } });
  return [
    route(webhooks.create, async ({ params: { url, name, description } }) => {
      const webhook = await engine.webhooks.create({ url, name: name ?? null, description: description ?? null });
      return show(webhook, { signing_key: webhook.secret });
    }),
    route(webhooks.list, async ({ params }) =>
      pageOf(await engine.webhooks.list(), params, { idOf: ({ id }) => id, records: (shown) => Promise.all(shown.map(recordOf)) }),
    ),
    route(webhooks.get, async ({ part }) => show(await engine.webhooks.find(part("id")))),
    route(webhooks.update, async ({ params: { url, name, description, active, replay_missed: replays }, part }) => {
      const change = {
        ...(url === undefined ? {} : { url }),
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(active === undefined ? {} : { active }),
      };
      const webhook = await engine.webhooks.update(part("id"), change);
      return replays === true ? show(webhook, { replayed: await engine.deliveries.replayMissed(webhook.id) }) : show(webhook);
    }),
    route(webhooks.delete, async ({ part }) => {
      await engine.webhooks.delete(part("id"));
      return { data: { id: part("id"), deleted: true } };
    }),
    route(webhooks.rotate, async ({ part }) => {
      const webhook = await engine.webhooks.update(part("id"), { rotate: true });
      return show(webhook, { signing_key: webhook.secret });
    }),
    route(webhooks.test, async ({ params, part }) => {
      const at = Date.now();
      const result = await engine.webhooks.test(part("id"), params.event);
      return { data: attemptRecord({ at, durationMs: Date.now() - at, result }) };
    }),
  ];
}

export function deliveryRoutes(engine: Engine): readonly Route[] {
  const names = async (): Promise<(id: string) => string | undefined> => {
    const webhooks = new Map<string, string>((await engine.webhooks.list()).map(({ id, name, url }) => [id, name ?? url]));
    return (id) => webhooks.get(id) ?? engine.deployed.nameOf(id);
  };
  const list = async (
    id: ListenerId,
    { limit, before, state }: z.output<typeof deliveries.ofWebhook.params>,
  ): Promise<AnswerOf<typeof deliveries.ofWebhook>> => {
    const found = await engine.deliveries.list(id, { limit, before, ...(state === undefined ? {} : { state }) });
    const nameOf = await names();
    return { data: found.map((delivery) => deliveryRecord(delivery, nameOf)) };
  };
  return [
    route(deliveries.ofWebhook, async ({ params, part }) => list((await engine.webhooks.find(part("id"))).id, params)),
    route(deliveries.retryWebhook, async ({ params, part }) => ({
      data: { retried: await engine.deliveries.retryFailed((await engine.webhooks.find(part("id"))).id, params.since_ms) },
    })),
    route(deliveries.ofSource, ({ params, part }) => list(engine.deployed.find(part("id"), "read deliveries to").id, params)),
    route(deliveries.ofInvocation, async ({ part }) => {
      const invocation = await engine.history.find(part("id"), "list deliveries of");
      const found = await engine.deliveries.of(invocation.sourceId, await engine.history.eventsOf(invocation, MOST_EVENTS));
      const nameOf = await names();
      return { data: found.map(({ delivery, attempts }) => deliveryRecord(delivery, nameOf, attempts)) };
    }),
    route(deliveries.retrySource, async ({ params, part }) => {
      const { id } = engine.deployed.find(part("id"), "deliver to");
      const retried = params.missed === true ? await engine.deliveries.replayMissed(id) : await engine.deliveries.retryFailed(id, params.since_ms);
      return { data: { retried } };
    }),
    route(deliveries.get, async ({ part }) => {
      const delivery = await engine.deliveries.find(part("id"));
      return { data: deliveryRecord(delivery, await names(), await engine.deliveries.attempts(delivery.id)) };
    }),
    route(deliveries.retry, async ({ part }) => ({ data: deliveryRecord(await engine.deliveries.retry(part("id")), await names()) })),
  ];
}
