import type { InvocationId } from "../domain/ids.ts";

/** So many of the newest calls, and as many before them, may do something after their end. */
const MOST = 5000;

/** Calls that a process was given, lately: what it says of others is not its business. */
export class GivenCalls {
  #newer = new Set<InvocationId>();
  #older: ReadonlySet<InvocationId> = new Set();

  add(id: InvocationId): void {
    this.#newer.add(id);
    // One by one, the oldest would be looked for behind all that were taken out before it.
    if (this.#newer.size < MOST) return;
    this.#older = this.#newer;
    this.#newer = new Set();
  }

  has(id: InvocationId): boolean {
    return this.#newer.has(id) || this.#older.has(id);
  }
}
