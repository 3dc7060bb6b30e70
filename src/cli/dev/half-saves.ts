import type { ReadResult } from "../../code/local-component.ts";

/** What does not compile may be half a save; an empty file surely is one, unless it stays empty. */
const DOUBT_MS = 20;
const EMPTY_DOUBT_MS = 300;

/** What an editor may be half-way through is taken up when it stays the same for a while. */
export class HalfSaves {
  #doubtful: { readonly text: string; readonly since: number } | undefined;

  /** After how many ms to look again at what was read, `text` to compare; `undefined`: it is a save. */
  lookAgainAfter(read: ReadResult, text: string): number | undefined {
    const doubtMs = read.kind === "failed" ? DOUBT_MS : read.code.text.trim() === "" ? EMPTY_DOUBT_MS : 0;
    if (this.#doubtful?.text !== text) this.#doubtful = { text, since: Date.now() };
    if (Date.now() - this.#doubtful.since < doubtMs) return doubtMs;
    this.#doubtful = undefined;
    return undefined;
  }
}
