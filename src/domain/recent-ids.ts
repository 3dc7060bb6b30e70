/** Size of the `unique` cache (components.md, Limits). */
export const UNIQUE_IDS = 100;
const FEW = 8;

/** Of ids that are known, oldest first, before `count` more are looked at. */
export function recentIds(known: readonly string[], count: number): RecentIds {
  return count <= FEW ? new FewIds(known) : new ManyIds(known);
}

/** Ids that `unique` remembers, and those that a run adds: of all, the last 100 count. */
abstract class RecentIds {
  readonly added: string[] = [];
  protected readonly known: readonly string[];

  constructor(known: readonly string[]) {
    this.known = known;
  }

  /** False: it is one of the last 100. */
  learn(id: string): boolean {
    if (this.has(id)) return false;
    this.added.push(id);
    return true;
  }

  /** The place of the oldest that counts, among the known and then the added ones. */
  protected get oldest(): number {
    return Math.max(0, this.known.length + this.added.length - UNIQUE_IDS);
  }

  protected abstract has(id: string): boolean;
}

/** Most runs emit one event: to look through a list costs them less than to make a set of it. */
class FewIds extends RecentIds {
  protected override has(id: string): boolean {
    return this.known.includes(id, this.oldest) || this.added.includes(id, Math.max(0, this.oldest - this.known.length));
  }
}

class ManyIds extends RecentIds {
  readonly #recent: Set<string>;

  constructor(known: readonly string[]) {
    super(known);
    this.#recent = new Set(known.slice(-UNIQUE_IDS));
  }

  override learn(id: string): boolean {
    const { oldest } = this;
    if (!super.learn(id)) return false;
    this.#recent.add(id);
    // One more is remembered, so the oldest is not.
    const gone = this.oldest === oldest ? undefined : (this.known[oldest] ?? this.added[oldest - this.known.length]);
    if (gone !== undefined) this.#recent.delete(gone);
    return true;
  }

  protected override has(id: string): boolean {
    return this.#recent.has(id);
  }
}
