import { describe, expect, it } from "vitest";
import { slugify } from "../../src/domain/source/deployed-component.ts";
import { searchIndex } from "../../src/domain/component/registry.ts";
import { formsOf, hiderOf, textsIn } from "../../src/domain/account/secrets.ts";
import { differenceOf } from "../../src/domain/text/text-difference.ts";
import { withWishes } from "../../src/domain/workflow/template.ts";
import { withExpressions } from "../../src/domain/workflow/expressions.ts";
import type { JsonValue } from "../../src/domain/text/json.ts";
import { PackageImports } from "../../src/code/package-imports.ts";
import { VirtualFiles } from "../../src/code/virtual-files.ts";
import { parseGivenTimer } from "../../src/domain/timer/schedule.ts";

/** CPU time, ms. */
function cpuOf(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const deep = (levels: number, leaf: JsonValue): JsonValue => Array.from({ length: levels }).reduce<JsonValue>((inner) => ({ in: inner }), leaf);
const leaves: JsonValue = Array.from({ length: 20_000 }, (_none, n) => `leaf-${n}`);
const importing = (count: number): string => Array.from({ length: count }, (_none, n) => `import "package-${n}";`).join("\n");
const lines = (word: string, count: number): string => Array.from({ length: count }, (_none, n) => `${word} ${n}`).join("\n");

/** Each once took seconds or minutes. Idle machines need less than 250 ms. */
const BOUND_MS = 1500;

describe("what a request brings holds the server up for no longer than a moment:", () => {
  it.each<[string, () => unknown]>([
    ["a name with very many marks over its letters", () => slugify(`a${"\u0301\u0323".repeat(200_000)}`)],
    ["two versions in which every line differs", () => differenceOf({ a: lines("one", 5000) }, { a: lines("two", 5000) })],
    ["two versions of very many lines", () => differenceOf({ a: lines("one", 200_000) }, { a: lines("two", 200_000) })],
    [
      "a file with very many imports",
      () => {
        const manifest = JSON.stringify({ dependencies: Object.fromEntries(Array.from({ length: 20_000 }, (_none, n) => [`package-${n}`, "1"])) });
        const packages = new PackageImports(new VirtualFiles({ path: "a.mjs", text: importing(8000), files: { "package.json": manifest } }));
        for (let n = 0; n < 8000; n++) packages.add(`package-${n}`, "a.mjs");
      },
    ],
    ["a secret of a million letters beyond ASCII", () => formsOf(["é".repeat(1_000_000)])],
    ["a secret of a million quotes", () => formsOf(['"'.repeat(1_000_000)])],
    ["texts that lie very deep", () => textsIn(deep(1900, leaves))],
    ["texts that lie very deep, with a secret", () => hiderOf(["secret-1"])(deep(1900, leaves))],
    [
      "a search for very many words",
      () =>
        searchIndex(
          Array.from({ length: 10_000 }, (_none, n) => ({
            key: `app-e-${n}`,
            name: "e e e",
            description: "e".repeat(200),
            version: "1",
            type: "action" as const,
            registry: "r",
            path: "",
          })),
          "e ".repeat(8000),
        ),
    ],
    [
      "a copy of a workflow with very many values",
      () =>
        expect(() =>
          withWishes("name: a\n", {
            steps: [{ namespace: "a", props: Object.fromEntries(Array.from({ length: 20_000 }, (_none, n) => [`p${n}`, 1])) }],
            triggers: [],
          }),
        ).toThrow("more than 1000"),
    ],
    [
      "a text that fills in a large result very often",
      () => expect(() => withExpressions("{{steps.a}}".repeat(200), new Map([["steps.a", { value: "x".repeat(1_100_000) }]]))).toThrow("more than"),
    ],
    ["a cron of a million characters", () => expect(parseGivenTimer({ cron: "0-59,".repeat(200_000) })).toEqual(expect.stringContaining("at most"))],
  ])("%s", (_what, call) => {
    expect(cpuOf(call)).toBeLessThan(BOUND_MS);
  });
});

describe("a difference that is too large to be shown", () => {
  it("says so, and one that is not shows each line", () => {
    expect(differenceOf({ a: lines("one", 5000) }, { a: lines("two", 5000) })).toEqual([
      { path: "a", kind: "changed", lines: ["\\ too many changes to show: 5000 lines before, 5000 after"] },
    ]);
    expect(differenceOf({ a: "x" }, { a: lines("two", 200_000) })[0]?.lines).toEqual(["\\ too many changes to show: 1 lines before, 200000 after"]);
    expect(differenceOf({}, { a: lines("two", 5000) })[0]?.lines).toHaveLength(5001);
    expect(differenceOf({ a: "x\n" }, { a: "y\n" })).toEqual([{ path: "a", kind: "changed", lines: ["-x", "+y"] }]);
  });
});
