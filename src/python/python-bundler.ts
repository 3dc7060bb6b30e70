import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hashOf } from "../code/esbuild-bundler.ts";
import type { BuildProblem } from "../domain/component/build-problem.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/text/json.ts";
import type { PackageSpec } from "../domain/component/package-spec.ts";
import { distributionOf, readRequirement } from "../domain/component/python-distributions.ts";
import type { ComponentCode } from "../domain/component/saved-component.ts";
import type { Bundler, BuildResult } from "../ports/bundler.ts";
import type { Clock } from "../ports/clock.ts";
import type { Interpreter } from "./python-tool.ts";

const REQUIREMENTS = "requirements.txt";
const CHECK_TIMEOUT_MS = 30_000;
/** Above any real step. Parsing this takes a second. */
const MOST_CHARACTERS = 1_000_000;

export interface PythonBundlerPorts {
  /** As in `3.11.7`. */
  readonly version: string;
  readonly python: Interpreter;
  readonly runFolder: string;
  readonly clock: Pick<Clock, "randomText">;
}

/** Runs none of the step's code. */
export function pythonBundler(ports: PythonBundlerPorts): Bundler {
  return { bundle: (code) => bundle(ports, code), hashOf };
}

async function bundle(ports: PythonBundlerPorts, code: ComponentCode): Promise<BuildResult> {
  const files = besideIt(code);
  const { [REQUIREMENTS]: requirements, ...modules } = files;
  const checked = await check(ports, { path: code.path, text: code.text, files: modules });
  const listed = requirements === undefined ? undefined : listedPackages(requirements, join(dirname(code.path), REQUIREMENTS));
  const added = readAll(checked.added.map(({ requirement, file, line }) => ({ text: requirement, place: { file, line } })));
  const problems = [...checked.problems, ...added.problems, ...(listed?.problems ?? [])];
  if (!checked.hasHandler && problems.length === 0 && !checked.isScript)
    problems.push({ file: code.path, line: 1, text: "it has no handler: a Python step needs def handler(pd)" });
  if (problems.length > 0) return { kind: "failed", problems };
  // In place of imported packages.
  const packages = distinct([...added.specs, ...(listed?.specs ?? importedPackages(checked.imports))]);
  return {
    kind: "built",
    hash: hashOf(code),
    warnings: olderThanWanted(ports.version, code.wantsPython),
    bundle: {
      code: code.text,
      map: lineMap(code),
      packages,
      imports: [],
      python: { files: modules, props: code.declares ?? {}, hasHandler: checked.hasHandler },
    },
  };
}

/** A newer Python usually runs older code, but an older one may fail to parse newer code. */
function olderThanWanted(version: string, wanted: string | undefined): readonly string[] {
  const [minor, wantedMinor] = [version, wanted ?? "3"].map((text) => Number(text.split(".")[1] ?? 0));
  if (wanted === undefined || minor === undefined || wantedMinor === undefined || minor >= wantedMinor) return [];
  return [`it is written for Python ${wanted}, but steps run on ${version} here: set another with --python or PD_PYTHON`];
}

/** Path from the step's folder → text. */
function besideIt({ path, files }: ComponentCode): Record<string, string> {
  const folder = path.includes("/") ? `${dirname(path)}/` : "";
  const inside = Object.entries(files).filter(([name]) => name.startsWith(folder) && (name.endsWith(".py") || name === folder + REQUIREMENTS));
  return Object.fromEntries(inside.map(([name, text]) => [name.slice(folder.length), text]));
}

interface Place {
  readonly file: string;
  readonly line: number;
}

interface Checked {
  readonly problems: readonly BuildProblem[];
  readonly imports: readonly (Place & { readonly name: string; readonly isCovered: boolean })[];
  readonly added: readonly (Place & { readonly requirement: string })[];
  readonly hasHandler: boolean;
  readonly isScript: boolean;
}

function unreadable(file: string, reason: string): Checked {
  return { problems: [{ file, line: 1, text: `Python cannot read it: ${reason}` }], imports: [], added: [], hasHandler: false, isScript: false };
}

async function check({ python, runFolder, clock }: PythonBundlerPorts, step: { path: string; text: string; files: Record<string, string> }): Promise<Checked> {
  const size = [step.text, ...Object.values(step.files)].reduce((sum, { length }) => sum + length, 0);
  if (size > MOST_CHARACTERS) return unreadable(step.path, `with the files next to it, it has ${size} characters; the limit is ${MOST_CHARACTERS}`);
  const folder = join(runFolder, `check-${clock.randomText(10)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(folder, "step.json"), JSON.stringify(step));
    const ran = await python.run("check.py", [folder], { folder, timeoutMs: CHECK_TIMEOUT_MS }).catch((error: unknown) => {
      if (error instanceof PdError && error.code === "PD_COMMAND_FAILED") return { code: 1, output: `its parser did not finish: ${error.message}` };
      throw error;
    });
    const { code, output } = ran;
    const text = await readFile(join(folder, "result.json"), "utf8").catch(() => "");
    const result = readResult(parseJson(text));
    if (code === 0 && result !== undefined) return result;
    const reason = output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
    return unreadable(step.path, reason || `its parser exited with code ${code}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Untrusted: the process has read untrusted code. */
function readResult(given: unknown): Checked | undefined {
  if (!isRecord(given)) return undefined;
  const list = (name: string): Record<string, unknown>[] => (Array.isArray(given[name]) ? given[name].filter(isRecord) : []);
  const placeOf = ({ file, line }: Record<string, unknown>): Place => ({ file: String(file), line: Number(line) });
  return {
    problems: list("problems").map((one) => ({
      ...placeOf(one),
      ...(one["column"] === undefined ? {} : { column: Number(one["column"]) }),
      text: String(one["text"]),
    })),
    imports: list("imports").map((one) => ({ ...placeOf(one), name: String(one["name"]), isCovered: one["isCovered"] === true })),
    added: list("added").map((one) => ({ ...placeOf(one), requirement: String(one["requirement"]) })),
    hasHandler: given["hasHandler"] === true,
    isScript: given["isScript"] === true,
  };
}

function importedPackages(imports: Checked["imports"]): readonly PackageSpec[] {
  return imports.filter(({ isCovered }) => !isCovered).map(({ name, file, line }) => ({ name: distributionOf(name), importedAt: `${file}:${line}` }));
}

interface ReadRequirements {
  readonly specs: readonly PackageSpec[];
  readonly problems: BuildProblem[];
}

function listedPackages(text: string, file: string): ReadRequirements {
  const lines = text.split(/\r?\n/).map((line, index) => ({ text: line.replace(/(^|\s)#.*$/, "").trim(), place: { file, line: index + 1 } }));
  return readAll(lines.filter((line) => line.text !== ""));
}

function readAll(lines: readonly { readonly text: string; readonly place: Place }[]): ReadRequirements {
  const specs: PackageSpec[] = [];
  const problems: BuildProblem[] = [];
  for (const { text, place } of lines) {
    const spec = readRequirement(text, `${place.file}:${place.line}`);
    if (spec === undefined)
      problems.push({
        ...place,
        text: `${JSON.stringify(text.slice(0, 200))} is not a package of an index: expected a name such as requests or requests==2.32.3`,
      });
    else specs.push(spec);
  }
  return { specs, problems };
}

/** A version wins, the first one of several. */
function distinct(specs: readonly PackageSpec[]): readonly PackageSpec[] {
  const found = new Map<string, PackageSpec>();
  for (const spec of specs)
    if (found.get(spec.name)?.range === undefined)
      found.set(spec.name, found.has(spec.name) && spec.range === undefined ? (found.get(spec.name) ?? spec) : spec);
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Identity, so that log positions resolve as for other code. */
function lineMap({ path, text }: ComponentCode): string {
  const lines = text.split("\n").length;
  return JSON.stringify({ version: 3, sources: [path], names: [], mappings: `AAAA${";AACA".repeat(lines - 1)}` });
}
