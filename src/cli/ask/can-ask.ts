import type { CliContext } from "../context.ts";

/** Questions can be asked: a person sits at both ends, and has not forbidden them. */
export function canAsk(cli: CliContext, flags: { prompt?: boolean | undefined }): boolean {
  return flags.prompt !== false && !cli.isJson && cli.stdin.isTTY === true && cli.stderr.isTTY === true;
}

/** A question was taken back by its signal. */
export function isTakenBack(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortPromptError";
}
