import { describe, expect, it } from "vitest";
import { sinceOf } from "../../src/cli/since.ts";
import { PdError } from "../../src/domain/errors.ts";

describe("--since", () => {
  it.each([
    ["2026-01-31", Date.UTC(2026, 0, 31)],
    ["2026-01-31T12:00:00Z", Date.UTC(2026, 0, 31, 12)],
    ["2026-01-31T12:00:00.500+01:00", Date.UTC(2026, 0, 31, 11, 0, 0, 500)],
  ])("takes %s", (given, at) => expect(sinceOf(given)).toBe(at));

  it("takes a span before now", () => expect(Math.abs(Date.now() - 7_200_000 - sinceOf("2h"))).toBeLessThan(60_000));

  it.each(["5", "12", "90", "last 3", "2w", "2.5h", "", "2026", "2026-13-01", "2026-02-30", "yesterday 1"])(
    "refuses %j, which would mean another time than was meant",
    (given) => expect(() => sinceOf(given)).toThrow(PdError),
  );
});
