import { isTravelling } from "./travelling.ts";

/**
 * Fences under which a commit failed. A host whose commit failed remembers dedupe ids and values that are not stored.
 * Commits that it sent before it learns of that must not store them as a part of other runs: its fence counts no more.
 */
export class DisownedFences {
  /** By source. */
  readonly #fences = new Map<string, number>();

  /** `write`: the first value of a write that failed. */
  add(write: unknown): void {
    // An older fence counts no more in any case.
    if (isTravelling(write) && write.fence > (this.#fences.get(write.sourceId) ?? -1)) this.#fences.set(write.sourceId, write.fence);
  }

  /** The source of a write that must not be made; `undefined`: it may be. */
  refuses(write: unknown): string | undefined {
    return isTravelling(write) && this.#fences.get(write.sourceId) === write.fence ? write.sourceId : undefined;
  }
}
