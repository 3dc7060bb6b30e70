import { join, posix } from "node:path";
import { LocalComponent } from "../code/local-component.ts";
import { ProjectRoot } from "../system/home/project-root.ts";
import { isErrorCode, messageOf, PdError } from "../domain/errors.ts";
import type { BuildProblem } from "../domain/component/build-problem.ts";
import type { ComponentDefinition } from "../domain/component/component.ts";
import { checkProps } from "../domain/props/check-props.ts";
import { invocationId } from "../domain/ids.ts";
import { describeOutcome } from "../domain/run/invocation.ts";
import { sampleProps } from "../domain/props/declared-props.ts";
import type { ComponentCode } from "../domain/component/saved-component.ts";
import { type BuildPorts, loadComponent } from "../engine/code/build-component.ts";
import type { Bundler } from "../ports/bundler.ts";
import type { Clock } from "../ports/clock.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { Runner, Unit } from "../ports/runner.ts";

/** A component reaches them in this order. */
export const STAGES = ["read", "bundled", "packages", "loaded", "definition", "deployable"] as const;
export type Stage = (typeof STAGES)[number];

/** `class` groups failures that have the same cause. */
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
  /** Omitted when the component is deployable. */
  readonly failure?: Failure;
}

export interface CheckPorts {
  readonly bundler: Bundler;
  readonly packages: PackageResolver;
  readonly runner: Runner;
  readonly clock: Clock;
}

const CALL_DEADLINE_MS = 10_000;

/** Deploys one component without its hooks. Returns the failure, or `undefined`. Never rejects. */
export async function checkComponent(ports: CheckPorts, folder: string, path: string): Promise<Failure | undefined> {
  let stage: Stage = "read";
  const reach = (next: Stage): void => void (stage = next);
  try {
    const code = await readLocal(folder, path);
    const given = { kind: "resolved", code, origin: { kind: "inline" } } as const;
    const { component, unit } = await loadComponent(watched(ports, { root: rootOf(path, code), reach }), given, {
      async start({ bundle, packagesFolder }) {
        reach("loaded");
        const packagesPath = packagesFolder === undefined ? {} : { packagesPath: ports.packages.locate(packagesFolder) };
        const started = await ports.runner.start({ bundle, env: {}, state: {}, ...packagesPath }, { late: () => {}, ended: () => {} });
        reach("definition");
        return started;
      },
    });
    try {
      reach("deployable");
      await checkUnit(ports, unit, component.definition);
    } finally {
      unit.kill("it was only tried out");
    }
    return undefined;
  } catch (error) {
    return { stage, ...classify(stage, error) };
  }
}

/** Builds as a server does, and reports the stages. */
function watched({ bundler, packages, clock }: CheckPorts, { root, reach }: { root: string; reach: (stage: Stage) => void }): BuildPorts {
  return {
    clock,
    bundler: {
      hashOf: (code) => bundler.hashOf(code),
      async bundle(code) {
        reach("bundled");
        const result = await bundler.bundle(code);
        if (result.kind === "failed") throw new Problem("cannot be bundled", result.problems.map((problem) => placeOf(problem, root)).join("; "));
        const specs = result.bundle.packages.map((spec) => ({ ...spec, importedAt: posix.join(root, spec.importedAt) }));
        return { ...result, bundle: { ...result.bundle, packages: specs } };
      },
    },
    packages: {
      resolve(specs, pins) {
        reach("packages");
        return packages.resolve(specs, pins);
      },
    },
  };
}

/** Returns the folder of the component's files, relative to the checked folder. */
function rootOf(path: string, { path: entry }: ComponentCode): string {
  return path.endsWith(entry) ? path.slice(0, path.length - entry.length) : "";
}

function placeOf({ text, file, line }: BuildProblem, root: string): string {
  return file === undefined ? text : `${text} (${posix.join(root, file)}:${line})`;
}

async function readLocal(folder: string, path: string): Promise<ComponentCode> {
  const component = await LocalComponent.open(join(folder, path), await ProjectRoot.at(folder));
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

async function checkUnit({ clock }: CheckPorts, unit: Unit, definition: ComponentDefinition): Promise<void> {
  const { values, problems } = checkProps(definition.props, sampleProps(definition.props));
  if (problems.length > 0) throw new Problem("props not understood", problems.map(({ prop, problem }) => `${prop} ${problem}`).join("; "));
  if (definition.hasAdditionalProps === true) return;
  const id = invocationId(clock.now(), clock.randomText(8));
  // A component without `additionalProps` answers as soon as `this` is built.
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
    case "PD_NOT_A_COMPONENT":
      return { class: reason.includes("only the hosted platform") ? "needs the hosted platform" : "invalid definition", reason: problemsOf(error) ?? reason };
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

function problemsOf(error: unknown): string | undefined {
  const problems = error instanceof PdError ? error.details?.["problems"] : undefined;
  return Array.isArray(problems) ? problems.join("; ") : undefined;
}

function withNpmWords(error: unknown, reason: string): string {
  const npm = error instanceof PdError ? error.details?.["npm"] : undefined;
  const line = typeof npm === "string" ? npm.split("\n").find((text) => /npm error (notarget|404)/.test(text)) : undefined;
  return line === undefined ? reason : `${reason} (${line.trim()})`;
}

function loadClass(reason: string): string {
  if (/does not provide an export named|Named export '[^']+' not found|is not exported|Cannot find (module|package)|ERR_PACKAGE_PATH/.test(reason))
    return "import that its package does not have";
  if (/addons is disabled/.test(reason)) return "needs native code (--allow-addons true)";
  if (/ERR_ACCESS_DENIED|Access to this API/.test(reason)) return "kept from it by the sandbox";
  return "throws while it is loaded";
}
