import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/text/json.ts";
import { type Shape, pathOf, rowsOf, searchIn } from "../../src/ui/parts/json/json-rows.ts";

const AT_FIRST: Shape = { toggled: new Set(), shown: new Map() };

function seen(value: JsonValue, shape: Partial<Shape> = {}): string[] {
  return rowsOf(value, { ...AT_FIRST, ...shape }).map((row) => (row.kind === "more" ? `${row.left} more` : `${pathOf(row.node)}${row.isOpen ? " open" : ""}`));
}

describe("a JSON value on the page", () => {
  it("is open for two levels, and a place that is opened or closed stays so when the value is loaded again", () => {
    const value = (): JsonValue => ({ a: { b: { c: 1 } }, "odd name": [1] });
    expect(seen(value())).toEqual(["$ open", "$.a open", "$.a.b", '$["odd name"] open', '$["odd name"][0]']);
    const [root, , b] = rowsOf(value(), AT_FIRST).flatMap((row) => (row.kind === "node" ? [row.node.key] : []));
    expect(seen(value(), { toggled: new Set([b ?? ""]) })).toContain("$.a.b.c");
    expect(seen(value(), { toggled: new Set([root ?? ""]) })).toEqual(["$"]);
  });

  it("shows long lists a hundred at a time", () => {
    const value = { list: Array.from({ length: 250 }, (_, index) => index) };
    expect(seen(value)).toEqual(["$ open", "$.list"]);
    const opened = seen(value, { toggled: new Set(["/0"]) });
    expect([opened.length, opened.at(-1)]).toEqual([103, "150 more"]);
    expect(seen(value, { toggled: new Set(["/0"]), shown: new Map([["/0", 1100]]) })).toHaveLength(252);
  });

  it("is searched by names and values, and opened as far as what is found", () => {
    const value = { deep: { deeper: { deepest: "Needle" } }, other: { needles: 1 }, no: { way: 2 } };
    const found = searchIn(value, "needle");
    expect(found.hits.size).toBe(2);
    expect(seen(value, { found })).toContain("$.deep.deeper.deepest");
    const long = { list: Array.from({ length: 5000 }, (_, index) => ({ name: `n${index}` })) };
    expect(seen(long, { found: searchIn(long, "n4998") }).slice(-3)).toEqual(["$.list[4998] open", "$.list[4998].name", "4899 more"]);
  });

  it("may be nested as deep as a text can say", () => {
    let value: JsonValue = "needle";
    for (let level = 0; level < 10_000; level++) value = { d: value };
    const found = searchIn(value, "needle");
    expect([found.hits.size, found.open.size]).toEqual([1, 10_000]);
    expect(rowsOf(value, { ...AT_FIRST, found })).toHaveLength(10_001);
  });
});
