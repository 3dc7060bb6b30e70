import { describe, expect, it } from "vitest";
import { table } from "../../src/cli/reporter.ts";

const HEADERS = ["name", "id", "endpoint"];
const ROWS = [
  ["orders", "dc_1234567", "http://127.0.0.1:4141/abcdefghijklmnopqrst"],
  ["a-source-with-quite-a-long-name", "dc_7654321", ""],
];

describe("a table", () => {
  it("is as wide as it needs to be where nothing limits it", () => {
    expect(table(HEADERS, ROWS).split("\n")).toEqual([
      "NAME                             ID          ENDPOINT",
      "orders                           dc_1234567  http://127.0.0.1:4141/abcdefghijklmnopqrst",
      "a-source-with-quite-a-long-name  dc_7654321",
    ]);
  });

  it("moves addresses below their rows, whole, where it would be too wide", () => {
    expect(table(HEADERS, ROWS, 60).split("\n")).toEqual([
      "NAME                             ID",
      "orders                           dc_1234567",
      "  http://127.0.0.1:4141/abcdefghijklmnopqrst",
      "a-source-with-quite-a-long-name  dc_7654321",
    ]);
  });

  it("cuts the last column first, and no id", () => {
    expect(table(["name", "id", "event"], [["orders", "dc_1234567", "an order has come"]], 30).split("\n")[1]).toBe("orders  dc_1234567  an order …");
  });

  it.each([80, 50])("is no wider than %i columns", (width) => {
    for (const line of table(HEADERS, ROWS, width).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
  });

  it("keeps ids whole in a terminal that is too narrow for it", () => {
    expect(table(HEADERS, ROWS, 10).split("\n")[3]).toBe("a-sou…  dc_7654321");
  });
});
