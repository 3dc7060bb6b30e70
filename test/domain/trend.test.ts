import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DURATIONS_MS, NO_TALLY, addTallies, percentile, placeOfDuration } from "../../src/domain/trend/tally.ts";
import { WINDOWS, type WindowName, pointsOf } from "../../src/domain/trend/window.ts";

const NOW = Date.parse("2026-03-05T10:17:00Z");
const NAMES: readonly WindowName[] = ["1h", "24h", "7d", "30d"];

describe("a trend", () => {
  it.each(NAMES)("over %s has every point, the last with now, and loses no run of the window", (window) => {
    const { lengthMs, pointMs } = WINDOWS[window];
    const points = pointsOf(window, NOW, [
      { ...NO_TALLY, at: NOW - lengthMs - pointMs, runs: 100 },
      { ...NO_TALLY, at: NOW - lengthMs + pointMs, runs: 1 },
      { ...NO_TALLY, at: NOW, runs: 2 },
    ]);
    expect(points).toHaveLength(lengthMs / pointMs);
    expect(points.reduce((sum, { runs }) => sum + runs, 0)).toBe(3);
    const last = points.at(-1);
    expect(last?.runs).toBe(2);
    expect(NOW - (last?.at ?? 0)).toBeLessThan(pointMs);
  });

  it("adds up what happened in the same point", () => {
    const tally = { runs: 1, failures: 1, events: 2, delivered: 3, undelivered: 4, durations: [0, 1] };
    expect(addTallies(tally, { ...tally, durations: [1] })).toEqual({ runs: 2, failures: 2, events: 4, delivered: 6, undelivered: 8, durations: [1, 1] });
  });
});

describe("the duration that 95 of 100 runs keep", () => {
  const durationsOf = (runs: readonly number[]): number[] => {
    const counts: number[] = DURATIONS_MS.map(() => 0);
    for (const ms of runs) counts[placeOfDuration(ms)] = (counts[placeOfDuration(ms)] ?? 0) + 1;
    return counts;
  };

  it("is none without runs", () => {
    expect(percentile([], 0.95)).toBeUndefined();
    expect(percentile([0, 0], 0.95)).toBeUndefined();
  });

  it("is within the bounds of the true one", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 200 }), (runs) => {
        const exact = runs.toSorted((a, b) => a - b)[Math.ceil(0.95 * runs.length) - 1] ?? 0;
        const place = placeOfDuration(exact);
        const found = percentile(durationsOf(runs), 0.95) ?? -1;
        expect(found).toBeGreaterThanOrEqual(DURATIONS_MS[place - 1] ?? 0);
        expect(found).toBeLessThanOrEqual(DURATIONS_MS[place] ?? Infinity);
      }),
    );
  });
});
