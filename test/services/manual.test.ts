import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import { SETTINGS } from "../../src/config.ts";

it("the man page is set without a complaint, and has every command, flag and setting", () => {
  const path = join(import.meta.dirname, "..", "..", "dist", "pd.1");
  const { stdout, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-P-c", "-P-b", "-P-u", "-rLL=300n", "-ww", path], {
    encoding: "utf8",
    maxBuffer: 10_000_000,
  });
  expect(stderr).toBe("");
  const text = stdout.replaceAll("‐", "-").replaceAll("−", "-");
  const program = buildProgram(() => Promise.resolve());
  const words = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== "help")
    .flatMap((command) => [command, ...command.commands])
    .flatMap((command) => [command.name(), ...command.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? [])))]);
  const wanted = [...words, ...Object.values(SETTINGS).map(({ variable }) => variable)];
  expect([wanted.length > 200, wanted.filter((word) => !text.includes(word))]).toEqual([true, []]);
});
