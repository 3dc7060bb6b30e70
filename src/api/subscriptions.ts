import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, many, one, text } from "./declare.ts";

const subscription = z.object({ id: text, emitter_id: text, listener_id: text, event_name: text });
export type SubscriptionRecord = z.infer<typeof subscription>;

const params = z.object({ emitter_id: z.string(), listener_id: z.string(), event_name: z.string().default("") });
const tag = "Subscriptions";
const answer = many(subscription);

export const subscriptions = {
  list: call(CALLS.subscriptions.list, {
    tag,
    summary: "Lists subscriptions, newest first",
    answer,
    also: ["GET /v1/workspaces/{org_id}/subscriptions"],
  }),
  create: call(CALLS.subscriptions.create, {
    tag,
    summary: "Subscribes a listener to an emitter's events, on the default channel or the channel in event_name",
    params,
    answer,
  }),
  delete: call(CALLS.subscriptions.delete, { tag, summary: "Deletes a subscription", params, answer }),
  createAutomatic: call(CALLS.subscriptions.createAutomatic, {
    tag,
    summary: "Subscribes a listener to $errors or $logs of every source that is deployed from now on",
    params: z.object({ event_name: z.enum(["$errors", "$logs"]), listener_id: z.string() }),
    answer: one(z.object({ event_name: text, listener_id: text })),
  }),
};
