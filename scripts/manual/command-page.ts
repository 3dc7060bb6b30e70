import { SETTINGS } from "../../src/config.ts";
import type { CommandFacts, FlagFacts, Manual } from "./command-facts.ts";

/** Returns the site's page in Markdown. */
export function commandPage({ groups, everywhere }: Manual): string {
  const parts = [
    "# Commands and flags",
    "All commands and flags, as in `pd help <command>` and `man pd`. The guide to them is [The command](command.md).",
    ...[...groups].flatMap(([heading, commands]) => [`## ${heading}`, ...commands.map(commandText)]),
    "## Everywhere",
    flagTable(everywhere),
    "## Settings",
    "Each is a flag of `pd up` and `pd serve`, a variable, and a line of the config file (the flag with `_`). A flag overrides the variable, which overrides the file.",
    table(
      ["Flag", "Variable", "Default", ""],
      Object.values(SETTINGS).map(({ flag, variable, value, default: usual, help }) => [
        code(`--${flag} ${value}`),
        code(variable),
        usual === "" ? "" : code(usual),
        escaped(help),
      ]),
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}

function commandText({ path, usage, about, flags, examples }: CommandFacts): string {
  const parts = [`### pd ${path}`, `${escaped(about)}.`, fenced([usage])];
  return [...parts, ...(flags.length === 0 ? [] : [flagTable(flags)]), ...(examples.length === 0 ? [] : ["Examples:", fenced(examples)])].join("\n\n");
}

function fenced(lines: readonly string[]): string {
  return ["```sh", ...lines, "```"].join("\n");
}

function flagTable(flags: readonly FlagFacts[]): string {
  return table(
    ["Flag", ""],
    flags.map(({ flags: words, about }) => [code(words), escaped(about)]),
  );
}

function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headers, headers.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function code(words: string): string {
  return `\`${words.replaceAll("|", "\\|")}\``;
}

/** Escapes the characters that Markdown would interpret. */
function escaped(words: string): string {
  const plain = words.replaceAll(/[\\|<>*_[\]{}`]/g, "\\$&").replaceAll("\n", " ");
  return plain.replaceAll(/https?:\/\/[^\s,;)]+/g, "`$&`");
}
