import { expect, it } from "vitest";
import { frameOf } from "../../src/domain/component/build-problem.ts";

it.each([
  ["a place", { line: 7, lineText: "let x = y z;", column: 10, length: 1 }, "7 │ let x = y z;\n              ^"],
  ["a stretch", { line: 12, lineText: "\tfoo(bar)", column: 1, length: 3 }, "12 │  foo(bar)\n      ~~~"],
  [
    "a long line",
    { line: 1, lineText: `${"a".repeat(200)}HERE${"b".repeat(200)}`, column: 200, length: 4 },
    `1 │ …${"a".repeat(60)}HERE${"b".repeat(36)}…\n${" ".repeat(65)}~~~~`,
  ],
  ["the end of a long line", { line: 1, lineText: "a".repeat(150), column: 150, length: 0 }, `1 │ …${"a".repeat(60)}\n${" ".repeat(65)}^`],
  ["a stretch that goes on beyond", { line: 1, lineText: "x".repeat(300), column: 0, length: 300 }, `1 │ ${"x".repeat(100)}…\n    ${"~".repeat(100)}`],
])("marks %s below its line, in no more than stands in a terminal", (_title, place, frame) => {
  expect(frameOf(place)).toBe(frame);
});
