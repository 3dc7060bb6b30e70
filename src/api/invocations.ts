import * as z from "zod";
import { CALLS } from "./calls.ts";
import { event } from "./events.ts";
import { call, invocationId, json, jsonObject, limitParams, many, ms, one, optionalText, text } from "./declare.ts";

const thrown = z.looseObject({
  name: text,
  message: text,
  stack: text,
  causes: z.array(text).readonly().optional().describe("what has led to it, one line each, down to what a third party answered"),
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
  started_at_ms: ms,
  duration_ms: z.number(),
  outcome: text,
  message: text,
  error: thrown.optional(),
  event_count: z.int(),
  dropped: z.record(z.string(), z.int()),
  response_status: z.int().optional(),
  replay_of: optionalText,
  version: z.int().optional().describe("the code of the source that it ran on"),
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
  os: z.array(observation).describe("what it logged"),
  response: json.optional(),
  sends: z.array(json),
  emits: z.array(z.object({ event: json, name: text })),
  flow: jsonObject.optional().describe("what it wanted a workflow to do next"),
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
  state: z.array(z.object({ key: text, before: json.optional(), after: json.optional() })).describe("keys that it would change; absent: the key is not set"),
});

const tag = "Invocations";

export const invocations = {
  list: call(CALLS.invocations.list, {
    tag,
    summary: "Lists calls of run and of hooks, the newest first",
    params: limitParams.extend({ before: invocationId.optional() }),
    answer: many(invocation),
  }),
  get: call(CALLS.invocations.get, { tag, summary: "Shows a call with its log", answer: one(invocation) }),
  events: call(CALLS.invocations.events, {
    tag,
    summary: "Lists the kept events of a call, the oldest first; bodies over 1 KB are cut",
    params: limitParams,
    answer: many(event),
  }),
  replay: call(CALLS.invocations.replay, { tag, summary: "Repeats the trigger of a call against today's code", answer: one(invocation) }),
  rehearse: call(CALLS.invocations.rehearse, {
    tag,
    summary: "What today's code would do with the trigger of a call, beside what was done; nothing of it is kept, but third parties are asked for real",
    answer: one(rehearsal),
  }),
  observations: call(CALLS.invocations.observations, {
    tag,
    summary: "The newest observations, the oldest first",
    params: limitParams,
    answer: many(observation),
  }),
  instants: call(CALLS.invocations.instants, {
    tag,
    summary: "What became of planned instants, the newest first",
    params: limitParams,
    answer: many(instant),
  }),
};
