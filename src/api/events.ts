import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, json, ms, one, optionalText, pageParams, paged, text } from "./declare.ts";

export const event = z.object({
  id: text,
  indexed_at_ms: ms,
  event: json,
  truncated: z.boolean().optional(),
  metadata: z.object({
    emitter_id: text,
    emit_id: text,
    name: text,
    id: optionalText,
    summary: optionalText,
    ts: ms.optional(),
    invocation_id: text,
    delivery_ts: ms.optional().describe("when it will be emitted; only in the channel $in"),
  }),
});
export type EventRecord = z.infer<typeof event>;

const tag = "Events";

export const events = {
  list: call(CALLS.events.list, {
    tag,
    summary: "Lists events, newest first; bodies over 1 KB are truncated unless expand is event. event_name=$in lists postponed events",
    params: pageParams.extend({ event_name: optionalText, expand: optionalText }),
    answer: paged(event),
    also: ["GET /v1/workflows/{id}/event_summaries"],
  }),
  get: call(CALLS.events.get, { tag, summary: "Shows an event with its whole body", answer: one(event) }),
  emit: call(CALLS.events.emit, {
    tag,
    summary: "Emits a stored event again as a new event, to streams and listeners, without dedupe",
    answer: one(event),
  }),
  errors: call(CALLS.events.errors, {
    tag,
    summary: "Lists failures of a source or workflow, newest first",
    params: pageParams,
    answer: paged(event),
    also: ["GET /v1/workflows/{id}/$errors/event_summaries"],
  }),
  logs: call(CALLS.events.logs, {
    tag,
    summary: "Lists log lines of a source or workflow, newest first",
    params: pageParams,
    answer: paged(event),
    also: ["GET /v1/workflows/{id}/$logs/event_summaries"],
  }),
  delete: call(CALLS.events.delete, {
    tag,
    summary: "Deletes events from start_id to end_id; both are optional, and without both all events are deleted",
    params: z.object({ start_id: optionalText, end_id: optionalText, event_name: optionalText }),
    status: 202,
  }),
};
