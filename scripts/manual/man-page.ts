import { SETTINGS } from "../../src/config.ts";
import type { CommandFacts, FlagFacts, Manual } from "./command-facts.ts";

/** Returns the page for man(1), in the macros of man(7). */
export function manPage({ about, groups, everywhere }: Manual, version: string): string {
  const parts = [
    `.TH PD 1 "" "headwater ${version}" "Headwater"`,
    section("NAME", [`pd \\- ${text(about)}`]),
    section("SYNOPSIS", [".B pd", "<command> [words] [flags]"]),
    section("DESCRIPTION", [
      text(
        "pd deploys, runs and watches event-source components on your own server. Components are JavaScript or TypeScript files that HTTP, a timer or a user triggers. pd uses the server on this machine, or another one. When none runs here, it starts one in the background.",
      ),
    ]),
    ...[...groups].map(([heading, commands]) => section(heading.toUpperCase(), commands.flatMap(commandLines))),
    section("EVERYWHERE", flagLines(everywhere)),
    section(
      "ENVIRONMENT",
      Object.values(SETTINGS).flatMap(({ variable, help, default: usual }) => [
        ".TP",
        `.B ${text(variable)}`,
        text(usual === "" ? help : `${help} (${usual})`),
      ]),
    ),
    section("FILES", [
      ".TP",
      `.B ${text("~/.local/share/headwater")}`,
      "The server's data, unless PD_HOME names another folder.",
      ".TP",
      `.B ${text("~/.config/headwater/config")}`,
      "Settings, and logins to servers.",
    ]),
    section("EXIT STATUS", ["0: succeeded. 1: failed. 2: wrong usage."]),
    section("EXAMPLES", [".nf", "pd init source orders \\-\\-http \\-\\-db", "pd dev orders/orders.mjs", "pd events orders \\-f", ".fi"]),
  ];
  return `${parts.join("\n")}\n`;
}

function section(heading: string, lines: readonly string[]): string {
  return [`.SH ${text(heading)}`, ...lines].join("\n");
}

function commandLines({ usage, about, flags, examples }: CommandFacts): readonly string[] {
  const shown = examples.length === 0 ? [] : [".RS", ".nf", ...examples.map(text), ".fi", ".RE"];
  return [`.SS ${text(usage)}`, `${text(about)}.`, ...flagLines(flags), ...shown];
}

function flagLines(flags: readonly FlagFacts[]): readonly string[] {
  return flags.flatMap(({ flags: words, about }) => [".TP", `.B ${text(words)}`, text(about)]);
}

/** Escapes every character that the formatter would interpret. */
function text(words: string): string {
  const plain = words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga")
    .replaceAll('"', "\\(dq")
    .replaceAll("\n", " ");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
