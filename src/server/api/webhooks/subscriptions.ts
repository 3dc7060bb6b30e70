import { api } from "../../../api/api.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";
import { subscriptionRecord } from "./webhook-records.ts";

const { subscriptions } = api;

export function subscriptionRoutes(engine: Engine): readonly Route[] {
  return [
    route(subscriptions.create, async ({ params: { emitter_id: emitterId, listener_id: listenerId, event_name: channel } }) => ({
      data: [subscriptionRecord(await engine.webhooks.subscribe({ emitterId, listenerId, channel }))],
    })),
    route(subscriptions.delete, async ({ params: { emitter_id: emitterId, listener_id: listenerId, event_name: channel } }) => {
      await engine.webhooks.unsubscribe({ emitterId, listenerId, channel });
      return { data: [] };
    }),
    route(subscriptions.list, async () => ({ data: (await engine.webhooks.subscriptions()).map(subscriptionRecord) })),
    route(subscriptions.createAutomatic, async ({ params: { event_name: channel, listener_id: listenerId } }) => {
      await engine.webhooks.subscribeAutomatically(channel, listenerId);
      return { data: { event_name: channel, listener_id: listenerId } };
    }),
  ];
}
