import { join, posix } from "node:path";
import { LocalComponent } from "../code/local-component.ts";
import { isErrorCode, messageOf, PdError } from "../domain/errors.ts";
import type { BuildProblem } from "../domain/build-problem.ts";
import { readDefinition } from "../domain/component.ts";
import { checkProps } from "../domain/check-props.ts";
import { invocationId } from "../domain/ids.ts";
import { describeOutcome } from "../domain/invocation.ts";
import { sampleProps } from "../domain/sample-props.ts";
import type { Bundle, ComponentCode } from "../domain/saved-component.ts";
import { type LiftedRange, rangeToLift, withoutRanges } from "../engine/lift-range.ts";
import type { Bundler } from "../ports/bundler.ts";
import type { Clock } from "../ports/clock.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { Runner, Unit } from "../ports/runner.ts";

/** How far a component came; each stage wants the one before. */
export const STAGES = ["read", "bundled", "packages", "loaded", "definition", "deployable"] as const;
export type Stage = (typeof STAGES)[number];

/** Why a component failed, and whose matter it is. */
export interface Failure {
  readonly stage: Stage;
  readonly class: string;
  readonly reason: string;
}

export interface CheckResult {
  readonly path: string;
  readonly key: string;
  readonly type: "source" | "action";
  readonly version: string;
  readonly durationMs: number;
  /** Absent: deployable. */
  readonly failure?: Failure;
}

export interface CheckPorts {
  readonly bundler: Bundler;
  readonly packages: PackageResolver;
  readonly runner: Runner;
  readonly clock: Clock;
}

const CALL_DEADLINE_MS = 10_000;

/** Takes one component through everything that deploying it does, but for its hooks. Never rejects. */
export async function checkComponent(ports: CheckPorts, folder: string, path: string): Promise<Failure | undefined> {
  let stage: Stage = "read";
  const reach = (next: Stage): void => void (stage = next);
  try {
    const code = await readLocal(folder, path);
    reach("bundled");
    const bundle = await bundled(ports, code, rootOf(path, code));
    reach("packages");
    const unit = await loaded(ports, bundle, { reach });
    try {
      await checkUnit(ports, unit, { code: bundle.code, reach });
    } finally {
      unit.kill("it was only tried out");
    }
    return undefined;
  } catch (error) {
    return { stage, ...classify(stage, error) };
  }
}

/** Where in the folder the component's own files begin, which their names are told from. */
function rootOf(path: string, { path: entry }: ComponentCode): string {
  return path.endsWith(entry) ? path.slice(0, path.length - entry.length) : "";
}

function placeOf({ text, file, line }: BuildProblem, root: string): string {
  return file === undefined ? text : `${text} (${posix.join(root, file)}:${line})`;
}

async function readLocal(folder: string, path: string): Promise<ComponentCode> {
  const component = await LocalComponent.open(join(folder, path));
  try {
    const read = await component.read();
    if (read.kind === "read") return read.code;
    throw new Problem(
      /Could not resolve/.test(read.problems[0]?.text ?? "") ? "missing file" : "syntax",
      read.problems.map((problem) => placeOf(problem, posix.dirname(path))).join("; "),
    );
  } finally {
    await component.dispose();
  }
}

async function bundled({ bundler }: CheckPorts, code: ComponentCode, root: string): Promise<Bundle> {
  const result = await bundler.bundle(code);
  if (result.kind === "failed") throw new Problem("cannot be bundled", result.problems.map((problem) => placeOf(problem, root)).join("; "));
  const packages = result.bundle.packages.map((spec) => ({ ...spec, importedAt: posix.join(root, spec.importedAt) }));
  return { ...result.bundle, packages };
}

/** Loads it with its packages, also where a range of its project is too old for it. */
async function loaded(
  ports: CheckPorts,
  bundle: Bundle,
  { reach, lifted = [] }: { reach: (stage: Stage) => void; lifted?: readonly LiftedRange[] },
): Promise<Unit> {
  // What is installed already may be what has just turned out to be too old.
  const asked = withoutRanges(bundle.packages, lifted).map((spec) => (lifted.some(({ name }) => name === spec.name) ? { ...spec, range: "latest" } : spec));
  const { folder } = await ports.packages.resolve(asked, {});
  reach("loaded");
  const packagesPath = folder === undefined ? {} : { packagesPath: ports.packages.locate(folder) };
  try {
    return await ports.runner.start({ bundle, env: {}, state: {}, ...packagesPath }, { late: () => {}, ended: () => {} });
  } catch (error) {
    const range = rangeToLift(error, bundle.packages);
    if (range === undefined || lifted.some(({ name }) => name === range.name)) throw error;
    return loaded(ports, bundle, { reach, lifted: [...lifted, range] });
  }
}

/** The definition, its props with made-up values, and `this` built of them. */
async function checkUnit({ clock }: CheckPorts, unit: Unit, { code, reach }: { code: string; reach: (stage: Stage) => void }): Promise<void> {
  reach("definition");
  const read = readDefinition(unit.definition, code);
  if (read.kind === "invalid") {
    const isPlatform = read.problems.some((problem) => problem.includes("only the hosted platform"));
    throw new Problem(isPlatform ? "needs the hosted platform" : "invalid definition", read.problems.join("; "));
  }
  reach("deployable");
  const { definition } = read;
  const { values, problems } = checkProps(definition.props, sampleProps(definition.props));
  if (problems.length > 0) throw new Problem("props not understood", problems.map(({ prop, problem }) => `${prop} ${problem}`).join("; "));
  if (definition.hasAdditionalProps === true) return;
  const id = invocationId(clock.now(), clock.randomText(8));
  // A component without the method answers at once, once `this` is built.
  const request = {
    id,
    method: { kind: "additional-props" },
    configured: values,
    dataStores: [],
    secrets: [],
    endpoint: "http://127.0.0.1/sample",
    deadlineMs: CALL_DEADLINE_MS,
  } as const;
  const { outcome } = await unit.call(request, { log: () => {}, respond: () => {} });
  if (outcome.kind !== "returned") throw new Problem("instance fails", describeOutcome(outcome));
}

class Problem extends Error {
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

function classify(stage: Stage, error: unknown): Omit<Failure, "stage"> {
  const reason = messageOf(error).slice(0, 1000);
  if (error instanceof Problem) return { class: error.kind, reason };
  const code = error instanceof PdError && isErrorCode(error.code) ? error.code : undefined;
  switch (code) {
    case "PD_PACKAGE_NOT_FOUND":
      return { class: "package not in the registry", reason: withNpmWords(error, reason) };
    case "PD_PACKAGES_UNREACHABLE":
      return { class: "package registry not reached", reason };
    case "PD_INSTALL_FAILED":
      return { class: "packages cannot be installed", reason: withNpmWords(error, reason) };
    case "PD_LOAD_FAILED":
      return { class: loadClass(reason), reason };
    default:
      return { class: `failed while ${stage}`, reason };
  }
}

function withNpmWords(error: unknown, reason: string): string {
  const npm = error instanceof PdError ? error.details?.["npm"] : undefined;
  const line = typeof npm === "string" ? npm.split("\n").find((text) => /npm error (notarget|404)/.test(text)) : undefined;
  return line === undefined ? reason : `${reason} (${line.trim()})`;
}

/** What Node says when a module cannot be loaded tells whether the component or the sandbox is the reason. */
function loadClass(reason: string): string {
  if (/does not provide an export named|Named export '[^']+' not found|is not exported|Cannot find (module|package)|ERR_PACKAGE_PATH/.test(reason))
    return "import that its package does not have";
  if (/addons is disabled/.test(reason)) return "needs native code (--allow-addons true)";
  if (/ERR_ACCESS_DENIED|Access to this API/.test(reason)) return "kept from it by the sandbox";
  return "throws while it is loaded";
}
