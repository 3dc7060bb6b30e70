import { NO_TALLY, type Tally, addTallies } from "./tally.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Tallies are stored per 5 minutes for a day, and per hour for a month. */
export const STEPS = { fine: 5 * MINUTE_MS, coarse: HOUR_MS } as const;
export type Step = keyof typeof STEPS;
export const STEP_NAMES: readonly Step[] = ["fine", "coarse"];

/** Older ones are removed. An hour more than the longest window that uses them. */
export const KEPT_MS: Readonly<Record<Step, number>> = { fine: DAY_MS + HOUR_MS, coarse: 30 * DAY_MS + HOUR_MS };

interface TrendWindow {
  readonly lengthMs: number;
  /** Of one point. A multiple of the step. */
  readonly pointMs: number;
  readonly step: Step;
}

export const WINDOWS = {
  "1h": { lengthMs: HOUR_MS, pointMs: 5 * MINUTE_MS, step: "fine" },
  "24h": { lengthMs: DAY_MS, pointMs: 30 * MINUTE_MS, step: "fine" },
  "7d": { lengthMs: 7 * DAY_MS, pointMs: 3 * HOUR_MS, step: "coarse" },
  "30d": { lengthMs: 30 * DAY_MS, pointMs: 12 * HOUR_MS, step: "coarse" },
} as const satisfies Readonly<Record<string, TrendWindow>>;
export type WindowName = keyof typeof WINDOWS;

export interface TimedTally extends Tally {
  /** Start of its step, epoch ms. */
  readonly at: number;
}

export function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/** Start of the first point. The last point contains `now`. */
export function firstPointOf(window: WindowName, now: number): number {
  const { lengthMs, pointMs } = WINDOWS[window];
  return startOf(now, pointMs) - lengthMs + pointMs;
}

/** Every point of the window, oldest first, also those in which nothing happened. */
export function pointsOf(window: WindowName, now: number, tallies: readonly TimedTally[]): readonly TimedTally[] {
  const { lengthMs, pointMs } = WINDOWS[window];
  const first = firstPointOf(window, now);
  const points = Array.from({ length: lengthMs / pointMs }, (): Tally => NO_TALLY);
  for (const tally of tallies) {
    const place = Math.floor((tally.at - first) / pointMs);
    const before = points[place];
    if (before !== undefined) points[place] = addTallies(before, tally);
  }
  return points.map((tally, place) => ({ ...tally, at: first + place * pointMs }));
}
