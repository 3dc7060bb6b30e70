import type { ReadResult } from "../../code/local-component.ts";

/** Code that does not compile may be half a save. A file that has become empty probably is. */
export type Doubt = "none" | "broken" | "emptied";

const DOUBT_MS: Readonly<Record<Doubt, number>> = { none: 0, broken: 20, emptied: 300 };

/** Accepts a doubtful save once it has not changed for a while. */
export class HalfSaves {
  #doubtful: { readonly text: string; readonly since: number } | undefined;

  /** Returns the ms after which to look again, or undefined when `text` is a save. */
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

/** A file that was empty before is meant to be empty. */
export function doubtOfFiles(files: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): Doubt {
  const isEmptied = ([name, text]: [string, string]): boolean => text.trim() === "" && before[name] !== text;
  return Object.entries(files).some(isEmptied) ? "emptied" : "none";
}
