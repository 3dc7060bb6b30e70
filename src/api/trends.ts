import * as z from "zod";
import { WINDOWS, type WindowName } from "../domain/trend/window.ts";
import { CALLS } from "./calls.ts";
import { call, ms, one, optionalText, text } from "./declare.ts";

const NAMES = Object.keys(WINDOWS).filter((name): name is WindowName => name in WINDOWS);

const point = z.object({
  at_ms: ms.describe("start of the point, epoch ms"),
  runs: z.int(),
  failures: z.int().describe("runs that did not succeed"),
  events: z.int(),
  delivered: z.int().describe("events that a listener has taken"),
  undelivered: z.int().describe("events that were given up"),
  p95_ms: z.number().nullable().describe("95 of 100 runs took at most this long; null without runs"),
});

const trend = z.object({
  id: text.nullable().describe("the source or workflow; null for the whole server"),
  window: z.enum(NAMES),
  point_ms: z.int(),
  points: z.array(point).describe("oldest first; the last one contains now"),
});

export const trends = {
  get: call(CALLS.trends.get, {
    tag: "Server",
    summary: "Counts runs, failures, events, deliveries and durations over time, of the server or of one source or workflow",
    params: z.object({ id: optionalText.describe("id or slug of a source or workflow"), window: z.enum(NAMES).default("24h") }),
    answer: one(trend),
  }),
};
