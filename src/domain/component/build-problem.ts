import { PdError } from "../errors.ts";

export interface BuildProblem {
  readonly text: string;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** The source line with the position marked below it. */
  readonly frame?: string;
}

/** Characters that fit a terminal beside the line number. */
const WIDEST = 100;
const BEFORE = 60;

/** Cuts a long line around the position. `column` (from 0) and `length` count characters. */
export function frameOf({ line, lineText, column, length }: { line: number; lineText: string; column: number; length: number }): string {
  const start = lineText.length <= WIDEST ? 0 : Math.max(0, column - BEFORE);
  const end = Math.min(lineText.length, start + WIDEST);
  const [before, after] = [start > 0 ? "…" : "", end < lineText.length ? "…" : ""];
  // The width of a tab depends on the terminal.
  const shown = `${before}${lineText.slice(start, end).replaceAll("\t", " ")}${after}`;
  const gutter = `${line} │ `;
  const marked = Math.max(1, Math.min(length, end - column));
  return `${gutter}${shown}\n${" ".repeat(gutter.length + before.length + column - start)}${marked > 1 ? "~".repeat(marked) : "^"}`;
}

export function buildFailed(path: string, problems: readonly BuildProblem[]): PdError {
  const texts = problems.map(({ text, file, line, column, frame }) => {
    const place = file === undefined ? "" : `${file}:${line ?? 1}${column === undefined ? "" : `:${column}`}: `;
    return `${place}${text}${frame === undefined ? "" : `\n${frame}`}`;
  });
  return new PdError("PD_BUILD_FAILED", `Cannot build ${path}:\n${texts.join("\n")}`, { details: { problems } });
}
