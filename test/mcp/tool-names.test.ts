import { expect, it } from "vitest";
import { toolNames } from "../../src/mcp/chosen-actions.ts";

it("tools have names that agents take, each its own", () => {
  const long = "x".repeat(70);
  expect(toolNames(["a.b", "a_b", "a/b", `${long}1`, `${long}2`])).toEqual(["a_b", "a_b_2", "a_b_3", "x".repeat(64), `${"x".repeat(62)}_2`]);
});
