import * as z from "zod";
import { CALLS } from "./calls.ts";
import { event } from "./events.ts";
import { call, invocationId, json, jsonObject, limitParams, many, ms, one, optionalText, text } from "./declare.ts";

const thrown = z.looseObject({
  name: text,
  message: text,
  stack: text,
  causes: z.array(text).readonly().optional().describe("causes of the error, one line each, down to the response of a third party"),
});

export const line = z.object({ k: text, msg: text, ts: ms, from: optionalText });
export type LineRecord = z.infer<typeof line>;

export const observation = z.object({
  ...line.shape,
  invocation_id: optionalText,
  trigger: optionalText,
  replay_of: optionalText,
  outcome: optionalText,
  duration_ms: z.number().optional(),
  event_count: z.int().optional(),
  dropped: z.record(z.string(), z.int()).optional(),
  err: thrown.optional(),
});
export type ObservationRecord = z.infer<typeof observation>;

export const invocation = z.object({
  id: invocationId,
  source_id: text,
  trigger: z.looseObject({ kind: text }),
  trigger_summary: text,
  arrived: optionalText.describe("start of the request's body or of the event, on one line"),
  started_at_ms: ms,
  duration_ms: z.number(),
  outcome: text,
  message: text,
  error: thrown.optional(),
  event_count: z.int(),
  dropped: z.record(z.string(), z.int()),
  response_status: z.int().optional(),
  replay_of: optionalText,
  version: z.int().optional().describe("version of the source that it ran on"),
  event: json.optional().describe("the argument of run; omitted in lists"),
  returned: json.optional(),
  logs: z.array(line).optional(),
});
export type InvocationRecord = z.infer<typeof invocation>;
export type RehearsalRecord = z.infer<typeof rehearsal>;

const instant = z.object({
  prop: text,
  planned_at_ms: ms,
  last_planned_at_ms: ms,
  count: z.int(),
  state: z.enum(["running", "fired", "coalesced", "skipped"]),
  invocation_id: optionalText,
  reason: optionalText,
});
export type InstantRecord = z.infer<typeof instant>;

const actionRun = z.object({
  outcome: text,
  message: text,
  error: thrown.optional(),
  exports: jsonObject,
  ret: json.optional(),
  os: z.array(observation).describe("its log"),
  response: json.optional(),
  sends: z.array(json),
  emits: z.array(z.object({ event: json, name: text })),
  flow: jsonObject.optional().describe("flow control that it requested, such as a delay"),
  duration_ms: z.number(),
  runs: z.int(),
});
export type ActionRunRecord = z.infer<typeof actionRun>;
export { actionRun };

const emitted = z.object({
  name: text,
  id: optionalText,
  summary: optionalText,
  event: json,
  dropped: text.optional().describe("why dedupe would drop it now"),
});

const rehearsal = z.object({
  before: z.object({
    outcome: text,
    message: text,
    version: z.int().optional(),
    events: z.array(emitted),
    dropped: z.record(z.string(), z.int()),
    status: z.int().optional(),
  }),
  after: z.object({
    outcome: text,
    message: text,
    version: z.int(),
    error: thrown.optional(),
    duration_ms: z.number(),
    events: z.array(emitted),
    status: z.int().optional(),
    body: optionalText,
    returned: json.optional(),
    logs: z.array(line),
  }),
  state: z
    .array(z.object({ key: text, before: json.optional(), after: json.optional() }))
    .describe("keys that it would change; before or after is omitted when the key is not set"),
});

const tag = "Invocations";

export const invocations = {
  list: call(CALLS.invocations.list, {
    tag,
    summary: "Lists calls of run and of hooks, newest first",
    params: limitParams.extend({ before: invocationId.optional() }),
    answer: many(invocation),
  }),
  get: call(CALLS.invocations.get, { tag, summary: "Shows a call with its log", answer: one(invocation) }),
  events: call(CALLS.invocations.events, {
    tag,
    summary: "Lists the stored events of a call, oldest first; bodies over 1 KB are truncated",
    params: limitParams,
    answer: many(event),
  }),
  replay: call(CALLS.invocations.replay, { tag, summary: "Replays the trigger of a call on the current code", answer: one(invocation) }),
  rehearse: call(CALLS.invocations.rehearse, {
    tag,
    summary: "Dry run of the trigger of a call on the current code, compared with the original call; stores nothing, but sends real requests to third parties",
    answer: one(rehearsal),
  }),
  observations: call(CALLS.invocations.observations, {
    tag,
    summary: "Lists the newest observations, oldest first",
    params: limitParams,
    answer: many(observation),
  }),
  instants: call(CALLS.invocations.instants, {
    tag,
    summary: "Lists planned timer instants with their outcome, newest first",
    params: limitParams,
    answer: many(instant),
  }),
};
