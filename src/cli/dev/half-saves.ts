import type { ReadResult } from "../../code/local-component.ts";

/** What does not compile may be half a save; an empty file surely is one, unless it stays empty. */
export type Doubt = "none" | "broken" | "emptied";

const DOUBT_MS: Readonly<Record<Doubt, number>> = { none: 0, broken: 20, emptied: 300 };

/** What an editor may be half-way through is taken up when it stays the same for a while. */
export class HalfSaves {
  #doubtful: { readonly text: string; readonly since: number } | undefined;

  /** After how many ms to look again at what was read, `text` to compare; `undefined`: it is a save. */
  lookAgainAfter(doubt: Doubt, text: string): number | undefined {
    const doubtMs = DOUBT_MS[doubt];
    if (this.#doubtful?.text !== text) this.#doubtful = { text, since: Date.now() };
    if (Date.now() - this.#doubtful.since < doubtMs) return doubtMs;
    this.#doubtful = undefined;
    return undefined;
  }
}

export function doubtOfComponent(read: ReadResult): Doubt {
  if (read.kind === "failed") return "broken";
  return read.code.text.trim() === "" ? "emptied" : "none";
}

/** A file that was empty before is meant so. */
export function doubtOfFiles(files: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): Doubt {
  const isEmptied = ([name, text]: [string, string]): boolean => text.trim() === "" && before[name] !== text;
  return Object.entries(files).some(isEmptied) ? "emptied" : "none";
}
