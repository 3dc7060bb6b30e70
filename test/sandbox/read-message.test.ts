import { describe, expect, it } from "vitest";
import { LIMITS, isTooComplex } from "../../src/domain/limits.ts";
import { readToHost } from "../../src/sandbox/channel/read-message.ts";

const part = { emits: [], stateChanges: {}, touched: {} };
const done = { type: "child:done", id: "inv_1", outcome: { kind: "returned" }, part };

describe("what a component's process says", () => {
  it.each([
    done,
    {
      ...done,
      part: { emits: [{ payload: '{"a":1}', id: 1, name: "c", summary: "s", ts: 1, deliveryTs: "x" }], stateChanges: { a: "1", b: null }, touched: { a: 0 } },
      returned: "null",
    },
    { type: "child:emitted", id: "inv_1", emits: [{ payload: "1" }] },
    { type: "child:late", id: "inv_1", part, outcome: { kind: "threw", error: { name: "E", message: "m", stack: "s" } } },
    { type: "child:log", id: null, line: { at: 1, level: "log", text: "t", rawFrom: "f" } },
    { type: "child:respond", id: "inv_1", response: { status: 200, headers: { a: ["b", "c"] }, body: "", encoding: "utf8" }, isUnsettled: false },
    { type: "child:ask", id: "inv_1", number: 1, request: { operation: "send-body", base64: "YQ==", isLast: false } },
    { type: "child:ask", id: "inv_1", number: 2, request: { operation: "send-body", base64: "", isLast: true, problem: "cut" } },
    { type: "child:ask", id: "inv_1", number: 1, request: { operation: "set", store: "s", key: "k", value: { a: [] } } },
  ])("is taken as the protocol has it: %j", (message) => {
    expect(readToHost(JSON.stringify(message))).toEqual(message);
  });

  it.each([
    ["null"],
    ["[]"],
    ['{"type":"constructor"}'],
    ['{"type":"child:unheard-of"}'],
    [JSON.stringify({ ...done, id: "dc_1" })],
    [JSON.stringify({ type: "child:emitted", id: "inv_1", emits: {} })],
    [JSON.stringify({ type: "child:emitted", id: "inv_1", emits: [{ payload: "{" }] })],
    [JSON.stringify({ ...done, outcome: { kind: "exited" } })],
    [JSON.stringify({ ...done, returned: "{not json" })],
    [JSON.stringify({ ...done, part: { ...part, stateChanges: { a: "not json" } } })],
    [JSON.stringify({ ...done, part: { ...part, stateChanges: { a: 1 } } })],
    [JSON.stringify({ ...done, part: { ...part, emits: [{ payload: "{" }] } })],
    [JSON.stringify({ ...done, part: { ...part, emits: [{ payload: "1", id: {} }] } })],
    [JSON.stringify({ ...done, part: { ...part, touched: { a: "x" } } })],
    [JSON.stringify({ ...done, part: { ...part, touched: { a: -1e300 } } })],
    [JSON.stringify({ type: "child:respond", id: "inv_1", response: { status: 20, headers: {}, body: "", encoding: "utf8" } })],
    [JSON.stringify({ type: "child:respond", id: "inv_1", response: { status: 200, headers: { a: 1 }, body: "", encoding: "utf8" } })],
    [JSON.stringify({ type: "child:log", id: null, line: null })],
    [JSON.stringify({ type: "child:log", id: null, line: { at: 1, level: "toString", text: "" } })],
    [JSON.stringify({ type: "child:ask", id: "inv_1", number: 1, request: { operation: "drop", store: "s" } })],
    [JSON.stringify({ type: "child:ask", id: "inv_1", number: 1, request: { operation: "send-body", base64: "a".repeat(400_000) } })],
    [JSON.stringify({ type: "child:ask", id: "inv_1", number: 1, request: { operation: "send-body", base64: 1 } })],
    [JSON.stringify({ type: "child:ask", id: "inv_1", number: 1, request: { operation: "send-body", base64: "", problem: {} } })],
  ])("is refused otherwise: %s", (text) => {
    expect(() => readToHost(text)).toThrow();
  });

  it("is refused before it is parsed when it is made to cost much", () => {
    for (const piece of ["{},", "[],", "[[", '"a":1,', "1,"]) expect(() => readToHost(`[${piece.repeat(1_000_000)}`)).toThrow("too many members");
  });

  it("has whole characters in all that is no JSON: of half of one a database keeps something else than readers are told", () => {
    const half = "i\ud83d";
    const emit = { payload: JSON.stringify(half), id: half, name: half, summary: `${half} 👍` };
    expect(readToHost(JSON.stringify({ type: "child:emitted", id: "inv_1", emits: [emit] }))).toEqual({
      type: "child:emitted",
      id: "inv_1",
      emits: [{ payload: JSON.stringify(half), id: "i\ufffd", name: "i\ufffd", summary: "i\ufffd 👍" }],
    });
  });

  it("may be long, and may have anything in its strings", () => {
    const payload = JSON.stringify('{},"[],\\"{[\\\\'.repeat(200_000));
    const message = { ...done, part: { ...part, emits: [{ payload }] } };
    expect(readToHost(JSON.stringify(message))).toEqual(message);
    expect(isTooComplex(`${'"'}${"{".repeat(LIMITS.members * 2)}`)).toBe(false);
  });
});
