import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, deliveryId, flag, json, limitParams, many, ms, one, optionalText, text } from "./declare.ts";

export const attempt = z.object({
  at_ms: ms,
  duration_ms: z.number(),
  status: z.int().optional(),
  answer: optionalText,
  error: optionalText,
});
export type AttemptAnswer = z.infer<typeof attempt>;

const delivery = z.object({
  id: deliveryId,
  webhook_id: optionalText,
  listener_id: text,
  listener_name: optionalText,
  message_id: text,
  emitter_id: text,
  emitter_name: optionalText,
  event_name: text,
  event: json,
  state: z.enum(["pending", "delivered", "failed", "missed"]),
  attempt_count: z.int(),
  next_attempt_at_ms: ms.optional(),
  created_at_ms: ms,
  attempts: z.array(attempt).optional(),
});
export type DeliveryRecord = z.infer<typeof delivery>;

const listParams = limitParams.extend({ before: deliveryId.optional(), state: delivery.shape.state.optional() });
const since_ms = z.coerce.number<string | number>().default(0);
const retried = one(z.object({ retried: z.int() }));
const tag = "Deliveries";

export const deliveries = {
  ofWebhook: call(CALLS.deliveries.ofWebhook, { tag, summary: "Lists deliveries to a webhook, newest first", params: listParams, answer: many(delivery) }),
  retryWebhook: call(CALLS.deliveries.retryWebhook, {
    tag,
    summary: "Retries failed and pending deliveries since a time in epoch ms, by default all of them, even while an attempt is in flight",
    params: z.object({ since_ms }),
    answer: retried,
  }),
  ofSource: call(CALLS.deliveries.ofSource, {
    tag,
    summary: "Lists deliveries to a listening source, newest first",
    params: listParams,
    answer: many(delivery),
  }),
  ofInvocation: call(CALLS.deliveries.ofInvocation, {
    tag,
    summary: "Lists the deliveries of the first 100 events of an invocation with their attempts, oldest first",
    answer: many(delivery),
  }),
  retrySource: call(CALLS.deliveries.retrySource, {
    tag,
    summary: "Retries failed and pending deliveries to a listening source since a time; with missed, delivers what it missed while inactive instead",
    params: z.object({ since_ms, missed: flag.optional() }),
    answer: retried,
  }),
  get: call(CALLS.deliveries.get, { tag, summary: "Shows a delivery with its attempts", answer: one(delivery) }),
  retry: call(CALLS.deliveries.retry, { tag, summary: "Retries a delivery now", answer: one(delivery) }),
};
