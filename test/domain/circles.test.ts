import { describe, expect, it } from "vitest";
import { inCircles } from "../../src/domain/delivery/circles.ts";

/** Each line is `listener < emitter channel`. */
function circlesOf(...lines: readonly string[]): readonly string[] {
  return inCircles(
    lines.map((line) => {
      const [, listenerId = "", emitterId = "", channel = ""] = /^(\S+) < (\S+) ?(\S*)$/.exec(line) ?? [];
      return { listenerId, emitterId, channel };
    }),
  );
}

describe("who hears themselves by subscriptions", () => {
  it.each<[what: string, lines: readonly string[], found: readonly string[]]>([
    ["nobody, where events end somewhere", ["wh_1 < dc_a", "dc_b < dc_a", "p_c < dc_b", "wh_2 < p_c"], []],
    ["one that listens to itself", ["dc_a < dc_a", "dc_b < dc_a"], ["dc_a"]],
    ["several in a circle, and not who leads to it or is led to", ["dc_b < dc_a", "p_c < dc_b", "dc_b < p_c", "dc_d < p_c"], ["dc_b", "p_c"]],
    ["by a pattern", ["dc_a < dc_b", "dc_b < dc_*"], ["dc_a", "dc_b"]],
    ["not alone by a pattern", ["dc_a < dc_*", "p_b < p_*", "dc_c < o_1"], ["dc_a", "dc_c"]],
    ["not by what is told of errors and logs", ["dc_a < dc_b $errors", "dc_b < dc_a"], []],
  ])("%s", (_what, lines, found) => {
    expect(circlesOf(...lines).toSorted()).toEqual(found);
  });
});
