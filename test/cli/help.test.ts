import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { DECLARATIONS, buildProgram } from "../../src/cli/program.ts";
import examples from "../../src/cli/declarations/examples.json" with { type: "json" };

function program(): CommandUnknownOpts {
  const made = buildProgram(async () => {});
  return made;
}

function all(command: CommandUnknownOpts, path: readonly string[] = []): (readonly string[])[] {
  return command.commands.flatMap((child) => [[...path, child.name()], ...all(child, [...path, child.name()])]);
}

function wordsOf(example: string): string[] {
  return [...example.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "").slice(1);
}

describe("a command line", () => {
  it("declares no more than its command needs, and that as it is among all", () => {
    const everything = program();
    for (const [, names] of DECLARATIONS)
      for (const name of names) {
        const made = buildProgram(async () => {}, [name, "--help"]);
        if (name !== "complete") expect(made.commands.map((command) => command.name())).toEqual(names);
        const [one, among] = [made, everything].map(({ commands }) => commands.find((command) => command.name() === name)?.helpInformation());
        expect(one).toBe(among);
      }
    expect(DECLARATIONS.flatMap(([, names]) => names).length).toBe(everything.commands.length);
    for (const words of [["nonesuch"], ["complete"], ["help", "list"], ["--help"], []])
      expect(buildProgram(async () => {}, words).commands.length).toBe(everything.commands.length);
  });
});

describe("pd help", () => {
  it("has every command in a group, in one order", () => {
    const help = program().helpInformation();
    expect(help.match(/^\S.*:$/gm)?.slice(1)).toEqual([
      "Write and test:",
      "Deploy and change:",
      "Run and inspect:",
      "Workflows:",
      "Deliver events:",
      "Accounts, registries and stores:",
      "The server:",
      "Git and other servers:",
      "Commands:",
    ]);
    expect(help.slice(help.indexOf("\nCommands:")).trim().split("\n")).toHaveLength(2);
  });

  const paths = all(program());
  it.each(paths.map((path) => [path.join(" ")]))("has two examples of %s, which are good usage", async (path) => {
    const found = Object.entries(examples).find(([name]) => name === path)?.[1] ?? [];
    expect(found).toHaveLength(2);
    for (const example of found) {
      const ran: string[] = [];
      const made = buildProgram(async (command) => void ran.push(command.name()));
      const quiet = (command: CommandUnknownOpts): void => {
        command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
        command.commands.forEach(quiet);
      };
      quiet(made);
      await made.parseAsync(wordsOf(example), { from: "user" });
      expect(ran).toHaveLength(1);
    }
  });

  it("names no command that is gone", () => {
    const known = new Set(paths.map((path) => path.join(" ")));
    expect(Object.keys(examples).filter((name) => !known.has(name))).toEqual([]);
  });

  it("of pd doctor is one screen, and names where the server's settings are", () => {
    let shown = "";
    const doctor = program().commands.find((command) => command.name() === "doctor");
    doctor?.configureOutput({ writeOut: (text) => (shown += text), getOutHelpWidth: () => 80 }).outputHelp();
    expect(shown.split("\n").length).toBeLessThanOrEqual(26);
    expect(shown).toContain("pd up --help");
  });

  it("shows a command's own flags before those of the server and those of every command", () => {
    const dev =
      program()
        .commands.find((command) => command.name() === "dev")
        ?.helpInformation() ?? "";
    const order = ["--dc <source>", "Server settings:", "--port", "Everywhere:", "--json"].map((text) => dev.indexOf(text));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
  });
});
