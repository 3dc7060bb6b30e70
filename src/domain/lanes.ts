import { KeyedTurns } from "./turns.ts";

/** So many of one kind work beside each other; more wait. */
const MOST_LANES = 8;

/** Lets those with the same key work beside each other, each in a lane that it has for itself: the first that is free, else the one with the fewest who wait. */
export class Lanes {
  readonly #turns = new KeyedTurns<string>();
  /** Key → how many are in each lane. */
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
