import { isTravelling } from "../rows/travelling.ts";

/**
 * Fences under which a commit failed. The host that holds such a fence still remembers dedupe ids and values that are not stored. Commits that it sent before
 * it learned of the failure must not store them.
 */
export class DisownedFences {
  readonly #fences = new Map<string, number>();

  add(write: unknown): void {
    if (isTravelling(write) && write.fence > (this.#fences.get(write.sourceId) ?? -1)) this.#fences.set(write.sourceId, write.fence);
  }

  /** Returns the source when the write must be rejected. */
  refuses(write: unknown): string | undefined {
    return isTravelling(write) && this.#fences.get(write.sourceId) === write.fence ? write.sourceId : undefined;
  }
}
