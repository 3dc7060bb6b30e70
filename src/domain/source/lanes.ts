import { KeyedTurns } from "./turns.ts";

/** Per key. */
const MOST_LANES = 8;

/** Work with the same key runs in parallel lanes, one at a time in each. */
export class Lanes {
  readonly #turns = new KeyedTurns<string>();
  /** Key → number of calls in each lane. */
  readonly #counts = new Map<string, number[]>();

  async take<Value>(key: string, work: (lane: number) => Promise<Value>): Promise<Value> {
    const counts = this.#counts.get(key) ?? [];
    this.#counts.set(key, counts);
    const lane = laneFor(counts);
    counts[lane] = (counts[lane] ?? 0) + 1;
    try {
      return await this.#turns.take(`${lane} ${key}`, () => work(lane));
    } finally {
      counts[lane] = (counts[lane] ?? 1) - 1;
      if (counts.every((count) => count === 0)) this.#counts.delete(key);
    }
  }
}

function laneFor(counts: readonly number[]): number {
  const free = counts.indexOf(0);
  if (free >= 0) return free;
  return counts.length < MOST_LANES ? counts.length : counts.indexOf(Math.min(...counts));
}
