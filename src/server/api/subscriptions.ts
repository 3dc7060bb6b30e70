import { z } from "zod";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { subscriptionRecord } from "./webhook-records.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const subscriptionParams = z.object({ emitter_id: z.string(), listener_id: z.string(), event_name: z.string().default("") });

/** /subscriptions and /auto_subscriptions (platform.md §1.6). */
export function subscriptionRoutes(engine: Engine, checkWorkspace: (id: string) => void): readonly Route[] {
  const tag = "Subscriptions";
  const answer = schemas.many(schemas.subscription);
  const list = async (): Promise<JsonObject> => ({ data: (await engine.store.listSubscriptions()).map(subscriptionRecord) });
  return [
    route({
      method: "post",
      path: "/v1/subscriptions",
      tag,
      summary: "Lets a listener get what an emitter emits: on the default channel, or on the one that event_name names",
      params: subscriptionParams,
      answer,
      async run({ params: { emitter_id: emitterId, listener_id: listenerId, event_name: channel } }) {
        return { data: [subscriptionRecord(await engine.webhooks.subscribe({ emitterId, listenerId, channel }))] };
      },
    }),
    route({
      method: "delete",
      path: "/v1/subscriptions",
      tag,
      summary: "Ends a subscription",
      params: subscriptionParams,
      answer: schemas.many(schemas.subscription),
      async run({ params: { emitter_id: emitterId, listener_id: listenerId, event_name: channel } }) {
        await engine.webhooks.unsubscribe({ emitterId, listenerId, channel });
        return { data: [] };
      },
    }),
    route({ method: "get", path: "/v1/users/me/subscriptions", tag, summary: "Lists subscriptions, the newest first", answer, run: list }),
    route({
      method: "get",
      path: "/v1/workspaces/{org_id}/subscriptions",
      tag,
      summary: "Lists the subscriptions of the workspace",
      answer,
      run({ part }) {
        checkWorkspace(part("org_id"));
        return list();
      },
    }),
    route({
      method: "post",
      path: "/v1/auto_subscriptions",
      tag,
      summary: "Subscribes a listener to $errors or $logs of every source that is deployed from now on",
      params: z.object({ event_name: z.enum(["$errors", "$logs"]), listener_id: z.string() }),
      answer: schemas.one(schemas.autoSubscription),
      async run({ params: { event_name: channel, listener_id: listenerId } }) {
        await engine.webhooks.subscribeAutomatically(channel, listenerId);
        return { data: { event_name: channel, listener_id: listenerId } };
      },
    }),
  ];
}
