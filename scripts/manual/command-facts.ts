import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import examples from "../../src/cli/declarations/examples.json" with { type: "json" };
import { buildProgram } from "../../src/cli/program.ts";

export interface CommandFacts {
  /** Such as `db get`. */
  readonly path: string;
  readonly usage: string;
  readonly about: string;
  readonly flags: readonly FlagFacts[];
  readonly examples: readonly string[];
}

export interface FlagFacts {
  readonly flags: string;
  readonly about: string;
}

export interface Manual {
  readonly about: string;
  /** Heading → commands, in `pd help`'s order. */
  readonly groups: ReadonlyMap<string, readonly CommandFacts[]>;
  readonly everywhere: readonly FlagFacts[];
}

/** Reads the declarations without loading the commands. */
export function readManual(): Manual {
  const program = buildProgram(() => Promise.resolve());
  const groups = new Map<string, CommandFacts[]>();
  const everywhere = new Map<string, FlagFacts>();
  for (const command of program.createHelp().visibleCommands(program)) {
    const heading = command.helpGroup().replace(/:$/, "");
    if (heading === "") continue;
    groups.set(heading, [...(groups.get(heading) ?? []), ...factsOf(command, command.name())]);
    for (const flag of command.options.filter(isEverywhere)) everywhere.set(flag.flags, { flags: flag.flags, about: flag.description });
  }
  return { about: program.description(), groups, everywhere: [...everywhere.values()] };
}

const EXAMPLES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(examples));

/** The command, or those that it groups. */
function factsOf(command: CommandUnknownOpts, path: string): CommandFacts[] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== "help");
  if (children.length > 0) return children.flatMap((child) => factsOf(child, `${path} ${child.name()}`));
  const flags = command.options
    .filter((option) => !option.hidden && !isEverywhere(option))
    .map(({ flags: words, description }) => ({ flags: words, about: description }));
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [{ path, usage: ["pd", path, ...words].join(" "), about: command.description(), flags, examples: EXAMPLES.get(path) ?? [] }];
}

function isEverywhere({ helpGroupHeading: heading }: { readonly helpGroupHeading?: string | undefined }): boolean {
  return heading === "Everywhere:";
}
