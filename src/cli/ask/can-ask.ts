import type { CliContext } from "../context.ts";

export function canAsk(cli: CliContext, flags: { prompt?: boolean | undefined }): boolean {
  return flags.prompt !== false && !cli.isJson && cli.stdin.isTTY === true && cli.stderr.isTTY === true;
}

/** The question's signal aborted it. */
export function isTakenBack(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortPromptError";
}
