import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import { type DeliveryId, type ListenerId, numberOfDelivery } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { clearable, flag, jsonValue } from "./params.ts";
import { attemptRecord, deliveryRecord, webhookRecord } from "./webhook-records.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { Delivery } from "../../domain/delivery.ts";
import type { Webhook } from "../../domain/webhook.ts";

const createParams = z.object({ url: z.string(), name: clearable, description: clearable });
const updateParams = createParams.partial().extend({ active: flag.optional(), replay_missed: flag.optional() });
const listParams = z.object({
  limit: pageParams.shape.limit,
  before: z.string().optional(),
  state: z.enum(["pending", "delivered", "failed", "missed"]).optional(),
});

/** /webhooks (webhooks-and-subscriptions.md, platform.md §1.6), and beside them what was delivered. */
export function webhookRoutes(engine: Engine): readonly Route[] {
  const tag = "Webhooks";
  const answer = schemas.one(schemas.webhook);
  const recordOf = async (webhook: Webhook): Promise<JsonObject> =>
    webhookRecord(webhook, { owner: engine.owner, counts: await engine.store.countDeliveries(webhook.id) });
  const show = async (webhook: Webhook, more: JsonObject = {}): Promise<JsonObject> => ({ data: { ...(await recordOf(webhook)), ...more } });
  return [
    route({
      method: "post",
      path: "/v1/webhooks",
      tag,
      summary: "Creates a webhook; its signing key is shown here and when it is rotated",
      params: createParams,
      answer,
      async run({ params: { url, name, description } }) {
        const webhook = await engine.webhooks.create({ url, name: name ?? null, description: description ?? null });
        return show(webhook, { signing_key: webhook.secret });
      },
    }),
    route({
      method: "get",
      path: "/v1/users/me/webhooks",
      tag,
      summary: "Lists webhooks, the newest first",
      params: pageParams,
      answer: schemas.paged(schemas.webhook),
      run: async ({ params }) =>
        pageOf(await engine.store.listWebhooks(), params, { idOf: ({ id }) => id, records: (shown) => Promise.all(shown.map(recordOf)) }),
    }),
    route({
      method: "get",
      path: "/v1/webhooks/{id}",
      tag,
      summary: "Shows a webhook",
      answer,
      run: async ({ part }) => show(await engine.webhooks.find(part("id"))),
    }),
    route({
      method: "put",
      path: "/v1/webhooks/{id}",
      tag,
      summary: "Changes a webhook; with replay_missed what it missed while it was inactive is delivered",
      params: updateParams,
      answer,
      async run({ params: { url, name, description, active, replay_missed: replays }, part }) {
        const change = {
          ...(url === undefined ? {} : { url }),
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(active === undefined ? {} : { active }),
        };
        const webhook = await engine.webhooks.update(part("id"), change);
        return replays === true ? show(webhook, { replayed: await engine.webhooks.replayMissed(webhook.id) }) : show(webhook);
      },
    }),
    route({
      method: "delete",
      path: "/v1/webhooks/{id}",
      tag,
      summary: "Deletes a webhook with its subscriptions and deliveries",
      answer: schemas.one(schemas.deleted),
      async run({ part }) {
        await engine.webhooks.delete(part("id"));
        return { data: { id: part("id"), deleted: true } };
      },
    }),
    route({
      method: "post",
      path: "/v1/webhooks/{id}/rotate",
      tag,
      summary: "Makes a new signing key; what is sent is signed with the old one as well for a day",
      answer,
      async run({ part }) {
        const webhook = await engine.webhooks.update(part("id"), { rotate: true });
        return show(webhook, { signing_key: webhook.secret });
      },
    }),
    route({
      method: "post",
      path: "/v1/webhooks/{id}/test",
      tag,
      summary: "Sends a message now and shows what came back",
      params: z.object({ event: jsonValue.optional() }),
      answer: schemas.one(schemas.attempt),
      async run({ params, part }) {
        const at = Date.now();
        const result = await engine.webhooks.test(part("id"), params.event);
        return { data: attemptRecord({ at, durationMs: Date.now() - at, result }) };
      },
    }),
  ];
}

/** Deliveries and their attempts. */
export function deliveryRoutes(engine: Engine): readonly Route[] {
  const tag = "Deliveries";
  const find = async (id: string): Promise<Delivery> => {
    const delivery = numberOfDelivery(id) === undefined ? undefined : await engine.store.getDelivery(deliveryIdOf(id));
    if (delivery === undefined) throw new PdError("PD_DELIVERY_NOT_FOUND", `Cannot find delivery "${id}": none has this id`);
    return delivery;
  };
  const list = async (id: ListenerId, { limit, before, state }: z.infer<typeof listParams>): Promise<JsonObject> => {
    const page = { limit, ...(before === undefined ? {} : { before: (await find(before)).id }), ...(state === undefined ? {} : { state }) };
    return { data: (await engine.store.listDeliveries(id, page)).map((delivery) => deliveryRecord(delivery)) };
  };
  return [
    route({
      method: "get",
      path: "/v1/webhooks/{id}/deliveries",
      tag,
      summary: "Lists deliveries to a webhook, the newest first",
      params: listParams,
      answer: schemas.many(schemas.delivery),
      run: async ({ params, part }) => list((await engine.webhooks.find(part("id"))).id, params),
    }),
    route({
      method: "post",
      path: "/v1/webhooks/{id}/deliveries/retry",
      tag,
      summary: "Delivers again all that has failed, since a time in epoch ms or from the first",
      params: z.object({ since_ms: z.coerce.number().default(0) }),
      answer: schemas.one(schemas.retried),
      run: async ({ params, part }) => ({ data: { retried: await engine.webhooks.retryFailed((await engine.webhooks.find(part("id"))).id, params.since_ms) } }),
    }),
    route({
      method: "get",
      path: "/v1/sources/{id}/deliveries",
      tag,
      summary: "Lists deliveries to a source that listens, the newest first",
      params: listParams,
      answer: schemas.many(schemas.delivery),
      run: ({ params, part }) => list(engine.find(part("id"), "read deliveries to").source.id, params),
    }),
    route({
      method: "post",
      path: "/v1/sources/{id}/deliveries/retry",
      tag,
      summary: "Runs a source that listens with what it has failed to take since a time, or has missed while it was inactive",
      params: z.object({ since_ms: z.coerce.number().default(0), missed: flag.optional() }),
      answer: schemas.one(schemas.retried),
      async run({ params, part }) {
        const { id } = engine.find(part("id"), "deliver to").source;
        const retried = params.missed === true ? await engine.webhooks.replayMissed(id) : await engine.webhooks.retryFailed(id, params.since_ms);
        return { data: { retried } };
      },
    }),
    route({
      method: "get",
      path: "/v1/deliveries/{id}",
      tag,
      summary: "Shows a delivery with its attempts",
      answer: schemas.one(schemas.delivery),
      async run({ part }) {
        const delivery = await find(part("id"));
        return { data: deliveryRecord(delivery, await engine.store.listAttempts(delivery.id)) };
      },
    }),
    route({
      method: "post",
      path: "/v1/deliveries/{id}/retry",
      tag,
      summary: "Delivers again, now",
      answer: schemas.one(schemas.delivery),
      async run({ part }) {
        await engine.webhooks.retry((await find(part("id"))).id);
        return { data: deliveryRecord(await find(part("id"))) };
      },
    }),
  ];
}

function deliveryIdOf(id: string): DeliveryId {
  return `dlv_${numberOfDelivery(id) ?? -1}`;
}
