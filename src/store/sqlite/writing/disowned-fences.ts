import { isFencedMessage } from "../rows/run-message.ts";

/**
 * After a failed commit, the host still remembers dedupe ids and values that are not stored. Commits that it sent
 * before it learned of the failure must not store them.
 */
export class DisownedFences {
  readonly #fences = new Map<string, number>();

  add(write: unknown): void {
    if (isFencedMessage(write) && write.fence > (this.#fences.get(write.sourceId) ?? -1)) this.#fences.set(write.sourceId, write.fence);
  }

  /** Returns the refused source. */
  refuses(write: unknown): string | undefined {
    return isFencedMessage(write) && this.#fences.get(write.sourceId) === write.fence ? write.sourceId : undefined;
  }
}
