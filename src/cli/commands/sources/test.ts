import { spawn } from "node:child_process";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PdError } from "../../../domain/errors.ts";
import { programFile } from "../../../system/program-files.ts";
import type { CliContext } from "../../context.ts";

const TEST_FILE = /\.test\.(m?ts|m?js)$/;
const NOT_OWN = new Set(["node_modules", ".git", "dist"]);

/** Returns the exit code of Node's test runner. */
export async function test(cli: CliContext, paths: readonly string[]): Promise<number> {
  const files = (await Promise.all((paths.length === 0 ? ["."] : paths).map(testFiles))).flat();
  if (files.length === 0)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot find a test in ${paths.length === 0 ? "this folder" : paths.join(", ")}: no file is named *.test.ts, .mts, .mjs or .js`,
      {
        fix: "pd init source orders --ts writes one",
      },
    );
  await refuseOthers(files);
  const words = [
    "--enable-source-maps",
    "--import",
    programUrl("test-hooks.js"),
    "--test",
    `--test-reporter=${cli.isJson ? programUrl("json-reporter.js") : "spec"}`,
    ...files.map(asRunnerArgument),
  ];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...cli.environment, NODE_NO_WARNINGS: "1" } });
  child.stdout.on("data", (chunk: Buffer) => void cli.stdout.write(chunk));
  child.stderr.on("data", (chunk: Buffer) => void cli.stderr.write(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

/** Node 21 and later read arguments as patterns. */
const READS_PATTERNS = Number(process.versions.node.split(".")[0]) >= 21;

function asRunnerArgument(path: string): string {
  return READS_PATTERNS ? path.replaceAll(/[*?[{(]/g, "[$&]") : path;
}

async function testFiles(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new PdError("PD_FILE_NOT_FOUND", `Cannot read ${path}: the file does not exist`);
  if (found.isFile()) return [path];
  const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !NOT_OWN.has(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const below = entries.map((entry) => {
    if (entry.isDirectory()) return testFiles(join(path, entry.name));
    return Promise.resolve(TEST_FILE.test(entry.name) ? [join(path, entry.name)] : []);
  });
  return (await Promise.all(below)).flat();
}

/** Throws PD_BAD_INPUT: these tests do nothing without their runner. */
async function refuseOthers(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const framework = /from ["'](vitest|@jest\/globals)["']/.exec(await readFile(file, "utf8"))?.[1];
    if (framework === undefined) continue;
    const runner = framework === "vitest" ? "npx vitest run" : "npx jest";
    throw new PdError("PD_BAD_INPUT", `Cannot run ${file}: it is a ${framework} test, and pd test runs those of node:test`, { fix: runner });
  }
}

function programUrl(name: string): string {
  return pathToFileURL(programFile(name)).href;
}
