import { PdError } from "../../../domain/errors.ts";
import type { CodeProblem } from "./editor-props.ts";

/** The place in the file that an error names first. */
export function problemIn(path: string, error: unknown): CodeProblem | undefined {
  if (!(error instanceof PdError)) return undefined;
  const stack = typeof error.details?.["stack"] === "string" ? error.details["stack"] : "";
  const place = [...`${error.message}\n${stack}`.matchAll(/([\w./-]+):(\d+)(?::(\d+))?/g)].find(
    ([, file = ""]) => file === path || file.endsWith(`/${path}`) || path.endsWith(file),
  );
  if (place === undefined) return undefined;
  const [, , line, column] = place;
  return { line: Number(line), column: Number(column ?? 0), message: error.message };
}
