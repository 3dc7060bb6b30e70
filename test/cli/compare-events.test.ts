import { describe, expect, it } from "vitest";
import { differenceOf } from "../../src/cli/fixture/compare-events.ts";

const OTHERWISE = { headers: { authorization: "Bearer x", host: "h" }, standIns: ["token-of-the-test"], from: 1_000_000, until: 1_001_000 };

describe("a run on the server and in a test", () => {
  it.each([
    ["are the same", [{ a: [1, { b: "x" }] }], [{ a: [1, { b: "x" }] }]],
    ["differ in headers that a test has not", [{ headers: { authorization: "Bearer x", a: "1" }, who: "Bearer x" }], [{ headers: { a: "1" } }]],
    ["differ in what is made of a secret", [{ token: "Bearer sk-live." }], [{ token: "Bearer token-of-the-test." }]],
    ["differ in the time of the run", [{ at: 1_000_012, on: "1970-01-01T00:16:40.012Z" }], [{ at: 1_000_000, on: "1970-01-01T00:16:40.000Z" }]],
  ])("%s: nothing is told", (_title, onServer, inTest) => {
    expect(differenceOf(onServer, inTest, OTHERWISE)).toBeUndefined();
  });

  it.each([
    [[{ a: [1, 2] }], [{ a: [1, 3] }], "[0].a[1]: 2 on the server, 3 in the test"],
    [[{ a: 1 }, 2], [{ a: 1 }], "2 events on the server, 1 in the test"],
    [[{ a: 1 }], [{ a: 1, b: null }], "[0].b: nothing on the server, null in the test"],
    [[{ a: [1] }], [{ a: [] }], "[0].a: [1] on the server, [] in the test"],
    [["x".repeat(100)], ["y"], `[0]: "${"x".repeat(59)}… on the server, "y" in the test`],
    [[{ url: "/A7?k=s" }], [{ url: "/A8?k=token-of-the-test" }], '[0].url: "/A7?k=s" on the server, "/A8?k=token-of-the-test" in the test'],
    [[{ host: "a" }], [{ host: "b" }], '[0].host: "a" on the server, "b" in the test'],
    [[{ n: "h" }], [{ n: "i" }], '[0].n: "h" on the server, "i" in the test'],
    [[{ at: 1_000_000 }], [{ at: 5 }], "[0].at: 1000000 on the server, 5 in the test"],
  ])("differ in %j and %j: where is told", (onServer, inTest, difference) => {
    expect(differenceOf(onServer, inTest, OTHERWISE)).toBe(difference);
  });
});
