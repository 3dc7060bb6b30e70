import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { CliContext } from "../context.ts";

/** Carries out a command, whose words and flags it was declared with; what the work throws is shown. */
export type Run = (command: CommandUnknownOpts, work: (cli: CliContext) => Promise<number>) => Promise<void>;

/** Of a flag that is given several times. */
export function list(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
