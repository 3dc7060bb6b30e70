export const UNIQUE_IDS = 100;
/** Up to this many emits, searching a list costs less than building a set. */
const FEW = 8;

/** The last 100 ids of `unique`. */
export class RecentIds {
  readonly added: string[] = [];
  /** Oldest first. */
  readonly #known: readonly string[];
  readonly #recent: Set<string> | undefined;

  /** `count` is the number of ids that will be checked. */
  constructor(known: readonly string[], count: number) {
    this.#known = known;
    this.#recent = count <= FEW ? undefined : new Set(known.slice(-UNIQUE_IDS));
  }

  /** Returns false when the id is one of the last 100. */
  learn(id: string): boolean {
    const oldest = this.#oldest;
    if (this.#recent?.has(id) ?? this.#isListed(id, oldest)) return false;
    this.added.push(id);
    this.#recent?.add(id);
    if (this.#oldest > oldest) this.#recent?.delete(this.#known[oldest] ?? this.added[oldest - this.#known.length] ?? id);
    return true;
  }

  /** Position of the oldest id that counts, in the known ids and then the added ones. */
  get #oldest(): number {
    return Math.max(0, this.#known.length + this.added.length - UNIQUE_IDS);
  }

  #isListed(id: string, from: number): boolean {
    return this.#known.includes(id, from) || this.added.includes(id, Math.max(0, from - this.#known.length));
  }
}
