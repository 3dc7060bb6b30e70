/** Size of the `unique` cache (components.md, Limits). */
export const UNIQUE_IDS = 100;
/** Most runs emit one event: to look through the list costs them less than to make a set of it. */
const FEW = 8;

/** The ids that `unique` remembers, and those that a run adds: of all, the last 100 count. */
export class RecentIds {
  readonly added: string[] = [];
  /** Oldest first. */
  readonly #known: readonly string[];
  readonly #recent: Set<string> | undefined;

  /** `count`: how many are looked at. */
  constructor(known: readonly string[], count: number) {
    this.#known = known;
    this.#recent = count <= FEW ? undefined : new Set(known.slice(-UNIQUE_IDS));
  }

  /** False: it is one of the last 100. */
  learn(id: string): boolean {
    const oldest = this.#oldest;
    if (this.#recent?.has(id) ?? this.#isListed(id, oldest)) return false;
    this.added.push(id);
    this.#recent?.add(id);
    if (this.#oldest > oldest) this.#recent?.delete(this.#known[oldest] ?? this.added[oldest - this.#known.length] ?? id);
    return true;
  }

  /** The place of the oldest that counts, among the known and then the added ones. */
  get #oldest(): number {
    return Math.max(0, this.#known.length + this.added.length - UNIQUE_IDS);
  }

  #isListed(id: string, from: number): boolean {
    return this.#known.includes(id, from) || this.added.includes(id, Math.max(0, from - this.#known.length));
  }
}
