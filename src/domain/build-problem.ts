import { PdError } from "./errors.ts";

/** A place in the author's code, and what is wrong there. */
export interface BuildProblem {
  readonly text: string;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** The line with the place marked below it. */
  readonly frame?: string;
}

/** As much of a line as stands in a terminal beside its number. */
const WIDEST = 100;
const BEFORE = 60;

/** A line with a place marked below it; of a long one the part around that. `column` from 0, `length` of the place, both in characters. */
export function frameOf({ line, lineText, column, length }: { line: number; lineText: string; column: number; length: number }): string {
  const start = lineText.length <= WIDEST ? 0 : Math.max(0, column - BEFORE);
  const end = Math.min(lineText.length, start + WIDEST);
  const [before, after] = [start > 0 ? "…" : "", end < lineText.length ? "…" : ""];
  // A tab is as wide as a terminal likes: the mark would stand elsewhere.
  const shown = `${before}${lineText.slice(start, end).replaceAll("\t", " ")}${after}`;
  const gutter = `${line} │ `;
  const marked = Math.max(1, Math.min(length, end - column));
  return `${gutter}${shown}\n${" ".repeat(gutter.length + before.length + column - start)}${marked > 1 ? "~".repeat(marked) : "^"}`;
}

/** PD_BUILD_FAILED with every problem, each with its place and its line. */
export function buildFailed(path: string, problems: readonly BuildProblem[]): PdError {
  const texts = problems.map(({ text, file, line, column, frame }) => {
    const place = file === undefined ? "" : `${file}:${line ?? 1}${column === undefined ? "" : `:${column}`}: `;
    return `${place}${text}${frame === undefined ? "" : `\n${frame}`}`;
  });
  return new PdError("PD_BUILD_FAILED", `Cannot build ${path}:\n${texts.join("\n")}`, { details: { problems } });
}
