import { describe, expect, it } from "vitest";
import { holds, matchOf, readSearch } from "../../src/domain/search/query.ts";

describe("what is searched for", () => {
  it.each([
    ["no customer", '"no"* "customer"*'],
    ['"a phrase" x', '"a"* "phrase"* "x"*'],
    ["body.order.id=7", '"7"*'],
    ["Ünïcode", '"Ünïcode"*'],
    ['" or 1 NEAR(', '"or"* "1"* "NEAR"*'],
    ["", undefined],
    ["---", undefined],
  ])("becomes words that are safe for the index: %s", (text, match) => {
    expect(matchOf(readSearch(text))).toBe(match);
  });

  it("may name a place in the event, also in a list, and its value", () => {
    const event = { body: { order: { id: 7, tags: ["new", "vip"] }, who: "Ada" } };
    const { paths } = readSearch("body.order.id=7 body.order.tags.1=vip body.who=Ada");
    expect(holds(event, paths)).toBe(true);
    expect(holds(event, readSearch("body.order.id=8").paths)).toBe(false);
    expect(holds(event, readSearch("body.nothing.here=8").paths)).toBe(false);
    expect(holds(undefined, [])).toBe(true);
  });
});
