import { describe, expect, it } from "vitest";
import { type DedupeCache, type DedupeStrategy, dedupe, remember } from "../../src/domain/event/dedupe.ts";
import { type Emit, orderEmits } from "../../src/domain/event/event.ts";

const emit = (id?: string | number, ts?: string | number): Emit => ({
  payload: JSON.stringify({ id, ts }),
  ...(id === undefined ? {} : { id }),
  ...(ts === undefined ? {} : { ts }),
});

function keep(strategy: DedupeStrategy | undefined, ...runs: Emit[][]): { kept: unknown[][]; cache: DedupeCache; warnings: string[] } {
  let cache: DedupeCache = {};
  const warnings: string[] = [];
  const kept = runs.map((emits) => {
    const result = dedupe(strategy, cache, orderEmits(emits));
    if (result.change !== undefined) cache = remember(cache, result.change);
    warnings.push(...result.warnings);
    return result.kept.map(({ id }) => id);
  });
  return { kept, cache, warnings };
}

describe("channels", () => {
  const on = (name: string, id: number): Emit => ({ ...emit(id), name });

  it("are deduplicated each for itself, and keep the order of what was emitted", () => {
    const runs = [
      [on("self", 1), emit(1), on("self", 1), on("other", 1), emit(2)],
      [emit(1), on("self", 2), on("other", 1)],
    ];
    expect(keep("unique", ...runs).kept).toEqual([[1, 1, 1, 2], [2]]);
    expect(keep("greatest", [on("a", 5), emit(3)], [on("a", 4), emit(4)]).kept).toEqual([[5, 3], [4]]);
    expect(keep("unique", [emit(1), on("a", 1)]).cache).toEqual({ unique: ["1"], channels: { a: { unique: ["1"] } } });
  });

  it("are forgotten beyond 100, first the one that was not emitted to for longest", () => {
    const many = Array.from({ length: 101 }, (_none, n) => [on(`channel-${n}`, 1)]);
    const { cache } = keep("unique", ...many);
    expect([Object.keys(cache.channels ?? {}).length, cache.channels?.["channel-0"]]).toEqual([100, undefined]);
  });
});

describe("without a strategy", () => {
  it("keeps everything", () => {
    expect(keep(undefined, [emit(1), emit(1), emit()]).kept).toEqual([[1, 1, undefined]]);
  });
});

describe("unique", () => {
  it("keeps the same of many events, whether one run emits them or each has a run", () => {
    const ids = Array.from({ length: 2000 }, (_, n) => `id-${Math.floor(Math.abs(Math.sin(n)) * 10_000) % 150}`);
    const together = keep("unique", ids.map(emit));
    const apart = keep("unique", ...ids.map((id) => [emit(id)]));
    expect(together.kept.flat()).toEqual(apart.kept.flat());
    expect(together.cache).toEqual(apart.cache);
    expect(together.kept.flat().length).toBeGreaterThan(173);
  });

  it.each([
    ["keeps an id once in a run", [[emit("a"), emit("a"), emit("b")]], [["a", "b"]]],
    ["keeps an id once over runs", [[emit("a")], [emit("a"), emit("c")]], [["a"], ["c"]]],
    ["takes the number 1 and the text 1 for the same id", [[emit(1), emit("1")]], [[1]]],
    [
      "tells long ids apart that share their first 64 characters",
      [[emit(`${"x".repeat(64)}1`), emit(`${"x".repeat(64)}2`)]],
      [[`${"x".repeat(64)}1`, `${"x".repeat(64)}2`]],
    ],
  ])("%s", (_title, runs, kept) => {
    expect(keep("unique", ...runs).kept).toEqual(kept);
  });

  it("forgets the oldest id beyond 100, first in, first out", () => {
    const first = Array.from({ length: 101 }, (_none, index) => emit(`id-${index}`));
    const { kept, cache } = keep("unique", first, [emit("id-0"), emit("id-2")]);
    expect(kept[1]).toEqual(["id-0"]);
    expect(cache.unique).toHaveLength(100);
    expect(cache.unique?.at(-1)).toBe("id-0");
    expect(cache.unique?.[0]).toBe("id-2");
  });

  it("does not renew the place of an id that is emitted again", () => {
    const ninetyNine = Array.from({ length: 99 }, (_none, index) => emit(`n-${index}`));
    const { kept } = keep("unique", [emit("first"), ...ninetyNine], [emit("first")], [emit("new")], [emit("first")]);
    expect(kept.slice(1)).toEqual([[], ["new"], ["first"]]);
  });

  it("keeps an emit without an id, and says so", () => {
    const { kept, warnings } = keep("unique", [emit(), emit()]);
    expect(kept).toEqual([[undefined, undefined]]);
    expect(warnings).toEqual(Array(2).fill('An event was kept without dedupe: strategy "unique" needs an id, but $emit got none'));
  });

  it("keeps an emit whose id is an object, and names it", () => {
    const { warnings } = keep("unique", [{ payload: "1", unusableId: "[object Object]" }]);
    expect(warnings).toEqual(['An event was kept without dedupe: strategy "unique" needs a string or number as id, got [object Object]']);
  });
});

describe("greatest", () => {
  it.each([
    ["keeps only larger ids", [[emit(5)], [emit(4), emit(5), emit(6)]], [[5], [6]]],
    ["moves on within a run", [[emit(1), emit(3), emit(2)]], [[1, 3]]],
    ["reads numbers in texts", [[emit("9")], [emit("10"), emit("8")]], [["9"], ["10"]]],
    ["compares beyond 2^53", [[emit("9007199254740993")], [emit("9007199254740992"), emit("9007199254740994")]], [["9007199254740993"], ["9007199254740994"]]],
    ["orders by ts first, so that none is lost", [[emit(2, 2000), emit(1, 1000)]], [[1, 2]]],
  ])("%s", (_title, runs, kept) => {
    expect(keep("greatest", ...runs).kept).toEqual(kept);
  });

  it("keeps an id that is not a number, says so, and leaves the cache", () => {
    const { kept, cache, warnings } = keep("greatest", [emit(7)], [emit("123-NaN")]);
    expect(kept).toEqual([[7], ["123-NaN"]]);
    expect(cache).toEqual({ greatest: "7" });
    expect(warnings).toEqual(['An event was kept without dedupe: strategy "greatest" needs a number as id, got "123-NaN"']);
  });
});

describe("last", () => {
  it.each([
    ["keeps all of a first run", [[emit("a"), emit("b")]], [["a", "b"]]],
    [
      "keeps what comes after the match",
      [
        [emit("a"), emit("b")],
        [emit("a"), emit("b"), emit("c"), emit("d")],
      ],
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ["keeps all when nothing matches", [[emit("a")], [emit("x"), emit("y")]], [["a"], ["x", "y"]]],
    ["keeps none when the match is the last", [[emit("a")], [emit("a")], [emit("b"), emit("a")]], [["a"], [], []]],
    [
      "remembers the newest by ts",
      [
        [emit("new", 2000), emit("old", 1000)],
        [emit("old", 1000), emit("new", 2000), emit("newer", 3000)],
      ],
      [["old", "new"], ["newer"]],
    ],
  ])("%s", (_title, runs, kept) => {
    expect(keep("last", ...runs).kept).toEqual(kept);
  });

  it("tells why an emit was dropped", () => {
    const result = dedupe("last", { last: "a" }, [emit("a")]);
    expect(result.dropped.map(({ reason }) => reason)).toEqual(['last: not after the event with id "a"']);
  });
});
