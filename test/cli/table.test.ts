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

  it("cuts the last column first", () => {
    expect(table(HEADERS, ROWS, 60).split("\n")[1]).toBe("orders                           dc_1234567  http://127.0.0…");
  });

  it.each([80, 40, 24])("is no wider than %i columns", (width) => {
    for (const line of table(HEADERS, ROWS, width).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
  });

  it("stays readable in a terminal that is too narrow for it", () => {
    expect(table(HEADERS, ROWS, 10).split("\n")[1]).toBe("orders  dc_12…  http:…");
  });
});
