import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { CliContext } from "../context.ts";

export type Run = (command: CommandUnknownOpts, work: (cli: CliContext) => Promise<number>) => Promise<void>;

export function list(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
