/** Checks the checker with copies of the program that have one fault each. Fails when a broken rule is not reported. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { FAULTS, type Fault } from "./fault-list.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, minutes: { type: "string", default: "0.4" }, seed: { type: "string", default: "11" } } });
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const source = resolve(".");
const MOST_TRIES = 5;
let missed = 0;
const chosen = FAULTS.filter(({ name }) => values.only === undefined || name.includes(values.only));
for (const fault of chosen) {
  const { found, tries } = broken(fault);
  const isCaught = found.some((line) => fault.breaks.test(line));
  if (!isCaught) missed++;
  say(`${isCaught ? `caught at try ${tries}` : "MISSED"}: ${fault.name}${found.length === 0 ? "" : `\n  ${found.slice(0, 2).join("\n  ")}`}`);
}
say(`${chosen.length - missed} passed, ${missed} failed`);
process.exit(missed === 0 ? 0 : 1);

function broken({ name, edits, words: special = [], breaks }: Fault): { readonly found: readonly string[]; readonly tries: number } {
  const copy = mkdtempSync(join(tmpdir(), "headwater-fault-"));
  try {
    for (const part of ["src", "scripts", "bin", "templates", "package.json"]) cpSync(join(source, part), join(copy, part), { recursive: true });
    symlinkSync(join(source, "node_modules"), join(copy, "node_modules"));
    for (const { file, find, put } of edits) {
      const text = readFileSync(join(copy, file), "utf8");
      if (!text.includes(find)) throw new Error(`${file} has no place for the fault "${name}" any more: say where it is now`);
      writeFileSync(
        join(copy, file),
        text.replace(find, () => put),
      );
    }
    run(["scripts/build.mjs"], copy);
    // Some faults need a kill at the right moment, so each attempt is longer.
    for (let tries = 1; ; tries++) {
      const words = ["--program", copy, "--minutes", String(Number(values.minutes) * tries), "--seed", String(Number(values.seed) + tries), ...special];
      const lines = run(["scripts/run.mjs", "test/torture/main.ts", ...words], source).split("\n");
      const found = lines.filter((line) => line.startsWith("BROKEN: "));
      if (tries === MOST_TRIES || found.some((line) => breaks.test(line))) return { found, tries };
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function run(words: readonly string[], cwd: string): string {
  const { stdout } = spawnSync(process.execPath, words, { cwd, encoding: "utf8", maxBuffer: 2 ** 26 });
  return stdout;
}
