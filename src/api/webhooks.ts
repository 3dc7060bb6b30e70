import * as z from "zod";
import { CALLS } from "./calls.ts";
import { attempt } from "./deliveries.ts";
import { call, clearable, deleted, flag, json, ms, one, optionalText, pageParams, paged, seconds, text } from "./declare.ts";

const webhook = z.object({
  id: text,
  user_id: text,
  name: text.nullable(),
  description: text.nullable(),
  url: text,
  active: z.boolean(),
  inactive_reason: optionalText,
  failing_since_ms: ms.optional(),
  deliveries: z.object({ pending: z.int(), delivered: z.int(), failed: z.int(), missed: z.int() }),
  signing_key: optionalText,
  replayed: z.int().optional(),
  created_at: seconds,
  updated_at: seconds,
});
export type WebhookRecord = z.infer<typeof webhook>;

const createParams = z.object({ url: z.string(), name: clearable, description: clearable });
const updateParams = createParams.partial().extend({ active: flag.optional(), replay_missed: flag.optional() });
export type WebhookParams = z.input<typeof updateParams>;

const tag = "Webhooks";
const answer = one(webhook);

export const webhooks = {
  list: call(CALLS.webhooks.list, { tag, summary: "Lists webhooks, newest first", params: pageParams, answer: paged(webhook) }),
  create: call(CALLS.webhooks.create, {
    tag,
    summary: "Creates a webhook; its signing key is shown here and when it is rotated",
    params: createParams,
    answer,
  }),
  get: call(CALLS.webhooks.get, { tag, summary: "Shows a webhook", answer }),
  update: call(CALLS.webhooks.update, {
    tag,
    summary: "Changes a webhook; replay_missed delivers what it missed while inactive",
    params: updateParams,
    answer,
  }),
  delete: call(CALLS.webhooks.delete, { tag, summary: "Deletes a webhook with its subscriptions and deliveries", answer: one(deleted) }),
  rotate: call(CALLS.webhooks.rotate, { tag, summary: "Creates a new signing key; for a day, messages are also signed with the old one", answer }),
  test: call(CALLS.webhooks.test, {
    tag,
    summary: "Sends a test message now and shows the response",
    params: z.object({ event: json.optional() }),
    answer: one(attempt),
  }),
};
