/** What happened in one step of time. */
export interface Tally {
  readonly runs: number;
  /** Runs that did not succeed. */
  readonly failures: number;
  readonly events: number;
  /** Events that a listener has taken. */
  readonly delivered: number;
  /** Events that were given up. */
  readonly undelivered: number;
  /** Runs by duration: the first entry counts those up to `DURATIONS_MS[0]`, the last those above all. Shorter when the rest is 0. */
  readonly durations: readonly number[];
}

/** Upper bounds of durations. */
export const DURATIONS_MS: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000,
  300_000, 900_000,
];

export const NO_TALLY: Tally = { runs: 0, failures: 0, events: 0, delivered: 0, undelivered: 0, durations: [] };

export function addTallies(left: Tally, right: Tally): Tally {
  const length = Math.max(left.durations.length, right.durations.length);
  return {
    runs: left.runs + right.runs,
    failures: left.failures + right.failures,
    events: left.events + right.events,
    delivered: left.delivered + right.delivered,
    undelivered: left.undelivered + right.undelivered,
    durations: Array.from({ length }, (_none, place) => (left.durations[place] ?? 0) + (right.durations[place] ?? 0)),
  };
}

/** Index in `durations`. */
export function placeOfDuration(ms: number): number {
  const place = DURATIONS_MS.findIndex((bound) => ms <= bound);
  return place < 0 ? DURATIONS_MS.length : place;
}

/** Estimated within the bounds of its place, in ms. Undefined without runs. */
export function percentile(durations: readonly number[], share: number): number | undefined {
  const total = durations.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = share * total;
  for (const [place, count] of durations.entries()) {
    if (count > 0 && left <= count) {
      const [least, most] = [DURATIONS_MS[place - 1] ?? 0, DURATIONS_MS[place] ?? DURATIONS_MS[place - 1] ?? 0];
      return least + (most - least) * (left / count);
    }
    left -= count;
  }
  return DURATIONS_MS.at(-1);
}
