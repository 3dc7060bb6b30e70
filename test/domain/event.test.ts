import { describe, expect, it } from "vitest";
import { type Emit, eventOf, orderEmits, parseTs } from "../../src/domain/event/event.ts";

const emit = (name: string, ts?: string | number): Emit => ({ payload: name, ...(ts === undefined ? {} : { ts }) });
const names = (emits: readonly Emit[]): string[] => emits.map(({ payload }) => payload);

describe("ts", () => {
  it.each([
    ["epoch ms", 1_700_000_000_000, 1_700_000_000_000],
    ["epoch s", 1_700_000_000, 1_700_000_000_000],
    ["epoch s as text", "1700000000", 1_700_000_000_000],
    ["an ISO string", "2023-11-14T22:13:20.000Z", 1_700_000_000_000],
    ["nothing", undefined, undefined],
    ["no time", "yesterday-ish", undefined],
  ])("may be %s", (_title, given, wanted) => {
    expect(parseTs(given)).toBe(wanted);
  });
});

describe("order", () => {
  it("is from oldest to newest", () => {
    expect(names(orderEmits([emit("c", 3000), emit("a", 1000), emit("b", 2000)]))).toEqual(["a", "b", "c"]);
  });

  it("mixes the forms of ts", () => {
    expect(names(orderEmits([emit("iso", "2023-11-14T22:13:20Z"), emit("s", 1_600_000_000), emit("ms", 1_650_000_000_000)]))).toEqual(["s", "ms", "iso"]);
  });

  it("leaves equal ones and those without ts in their place", () => {
    expect(names(orderEmits([emit("b", 5), emit("none"), emit("a", 1), emit("a2", 1)]))).toEqual(["a", "none", "a2", "b"]);
  });
});

describe("an event", () => {
  it("keeps its id as text, its channel and its time in ms", () => {
    expect(eventOf({ payload: "1", id: 7, name: "$errors", summary: "s", ts: 1_700_000_000 })).toEqual({
      payload: "1",
      dedupeId: "7",
      channel: "$errors",
      summary: "s",
      ts: 1_700_000_000_000,
    });
  });
});
