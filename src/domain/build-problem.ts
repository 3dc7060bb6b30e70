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

/** PD_BUILD_FAILED with every problem, each with its place and its line. */
export function buildFailed(path: string, problems: readonly BuildProblem[]): PdError {
  const texts = problems.map(({ text, file, line, column, frame }) => {
    const place = file === undefined ? "" : `${file}:${line ?? 1}${column === undefined ? "" : `:${column}`}: `;
    return `${place}${text}${frame === undefined ? "" : `\n${frame}`}`;
  });
  return new PdError("PD_BUILD_FAILED", `Cannot build ${path}:\n${texts.join("\n")}`, { details: { problems } });
}
