import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, many, one, optionalText, text } from "./declare.ts";

const alert = z.object({
  id: text,
  source_id: text.nullable().describe("the source or workflow; null for everything on the server"),
  source_name: optionalText,
  via: text.describe("mail, or the id of a webhook"),
  to: text.describe("mail address, or name or URL of the webhook"),
  daily: z.boolean().describe("also a summary of each day"),
  created_at_ms: z.number(),
});
export type AlertRecord = z.infer<typeof alert>;

const tag = "Alerts";

export const alerts = {
  list: call(CALLS.alerts.list, { tag, summary: "Lists alerts, oldest first", params: z.object({ source_id: optionalText }), answer: many(alert) }),
  create: call(CALLS.alerts.create, {
    tag,
    summary: "Tells a webhook, or the mail address of the SMTP settings, when something fails, in groups",
    params: z.object({
      source_id: optionalText.describe("id or slug of a source or workflow; everything on the server by default"),
      via: z.string().min(1).describe("mail, or the id of a webhook"),
      daily: flag.default(false),
    }),
    answer: one(alert),
  }),
  delete: call(CALLS.alerts.delete, { tag, summary: "Deletes an alert", answer: one(deleted) }),
  test: call(CALLS.alerts.test, {
    tag,
    summary: "Sends a test message now",
    answer: one(z.object({ sent: z.boolean(), problem: optionalText.describe("why it was not sent") })),
  }),
};
