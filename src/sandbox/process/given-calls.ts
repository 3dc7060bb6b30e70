import type { InvocationId } from "../../domain/ids.ts";

/** At least this many of the newest calls stay known. */
const MOST = 5000;

/** Late reports about other calls are ignored. */
export class GivenCalls {
  #newer = new Set<InvocationId>();
  #older: ReadonlySet<InvocationId> = new Set();

  add(id: InvocationId): void {
    this.#newer.add(id);
    // Deleting single entries slows each search for the oldest.
    if (this.#newer.size < MOST) return;
    this.#older = this.#newer;
    this.#newer = new Set();
  }

  has(id: InvocationId): boolean {
    return this.#newer.has(id) || this.#older.has(id);
  }
}
