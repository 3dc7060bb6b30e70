import { expect, it } from "vitest";
import { describeArrival, describeEvent } from "../../src/domain/run/arrival.ts";
import type { HttpTrigger } from "../../src/domain/run/trigger.ts";

const http = (body: string, more: Partial<HttpTrigger> = {}): HttpTrigger => ({
  kind: "http",
  method: "POST",
  path: "/",
  query: "",
  url: "http://localhost/",
  headers: {},
  clientIp: "127.0.0.1",
  body,
  encoding: "utf8",
  ...more,
});

it.each([
  ["a body, on one line", http('{\n  "order": 7\n}'), '{ "order": 7 }'],
  ["a long one, cut", http("x".repeat(5000)), `${"x".repeat(119)}…`],
  ["none", http(""), ""],
  ["bytes, by their number", http(Buffer.from([0, 255, 1]).toString("base64"), { encoding: "base64" }), "3 bytes"],
  ["an event given by hand", { kind: "manual", event: { a: 1 } } as const, '{"a":1}'],
  ["a text", { kind: "manual", event: "hello\nthere" } as const, "hello there"],
  ["an empty event", { kind: "manual", event: {} } as const, ""],
  ["an event of another source", { kind: "event", emitterId: "dc_1", channel: "", messageId: "m", event: "[1,2]" } as const, "[1,2]"],
  ["a timer: nothing arrives", { kind: "timer", prop: "timer", plannedAt: 0, schedule: { kind: "interval", seconds: 60 } } as const, ""],
])("a run in a list is told from others by %s", (_what, trigger, shown) => {
  expect(describeArrival(trigger)).toBe(shown);
});

it("of a workflow is told by the body of its request, or else its query", () => {
  expect(describeEvent({ method: "POST", body: { id: 4 }, headers: { a: "b" } })).toBe('{"id":4}');
  expect(describeEvent({ method: "GET", body: null, query: { page: "2" } })).toBe('{"page":"2"}');
  expect(describeEvent({ body: "no request" })).toBe('{"body":"no request"}');
  expect(describeEvent(null)).toBe("");
});
