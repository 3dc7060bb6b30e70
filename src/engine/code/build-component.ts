import type { Bundler } from "../../ports/bundler.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CodeOrigin } from "../../ports/code-origin.ts";
import type { PackageResolver } from "../../ports/package-resolver.ts";
import type { Progress, Tracked } from "../../ports/progress.ts";
import { type ComponentDefinition, readDefinition, readStepDefinition } from "../../domain/component/component.ts";
import { PdError } from "../../domain/errors.ts";
import { buildFailed } from "../../domain/component/build-problem.ts";
import type { PackageLock, PackageSpec } from "../../domain/component/package-spec.ts";
import type { Bundle, ComponentCode, Origin, SavedComponent } from "../../domain/component/saved-component.ts";
import type { Unit } from "../../ports/runner.ts";
import { withFetchedImports } from "./fetch-imports.ts";
import { type LiftedRange, liftWarning, rangeToLift, rangesLiftedBefore, withLacks, withoutRanges } from "./lift-range.ts";
import { Registries, type RegistryPorts } from "./registries.ts";

export interface BuildPorts {
  readonly bundler: Bundler;
  readonly packages: Pick<PackageResolver, "resolve">;
  readonly clock: Clock;
}

export interface CodePorts extends BuildPorts, RegistryPorts {
  readonly packages: PackageResolver;
  readonly origin: CodeOrigin;
}

export type CodeInput =
  | { readonly kind: "code"; readonly code: ComponentCode; readonly lock?: PackageLock }
  | ({ readonly kind: "url"; readonly url: string } & CodeAddition)
  /** Without `registry`, the first registry that has the key. */
  | ({ readonly kind: "key"; readonly key: string; readonly registry?: string } & CodeAddition);

type CodeAddition = Pick<ComponentCode, "imports" | "packagesAsOf">;

export interface ResolvedCode {
  readonly kind: "resolved";
  readonly code: ComponentCode;
  readonly origin: Origin;
  readonly lock?: PackageLock;
}

interface BuiltCode {
  readonly code: ComponentCode;
  readonly hash: string;
  readonly origin: Origin;
  readonly bundle: Bundle;
  readonly lock: PackageLock;
  readonly packagesFolder: string | undefined;
  /** Ranges of the project that were dropped because they do not fit its own imports. */
  readonly lifted: readonly LiftedRange[];
  /** Fails when it is reached. */
  readonly warnings: readonly string[];
}

/** Throws PD_CODE_UNREACHABLE, PD_COMPONENT_NOT_FOUND. */
export async function resolveCode(ports: CodePorts, input: CodeInput, progress?: Progress): Promise<ResolvedCode> {
  if (input.kind !== "code") progress?.({ step: "fetching", subject: input.kind === "url" ? input.url : input.key });
  switch (input.kind) {
    case "code":
      return {
        kind: "resolved",
        code: await withFetchedImports(ports.origin, withAddition(input.code, input.code)),
        origin: { kind: "inline" },
        ...(input.lock === undefined ? {} : { lock: input.lock }),
      };
    case "url":
      return {
        kind: "resolved",
        code: await withFetchedImports(ports.origin, withAddition(await fetchCode(ports, input.url), input)),
        origin: { kind: "url", url: input.url },
      };
    case "key": {
      const { code, origin } = await new Registries(ports).find(input.key, input.registry);
      return { kind: "resolved", code: withAddition(code, input), origin };
    }
  }
}

function withAddition({ imports: _before, ...code }: ComponentCode, { imports = [], packagesAsOf }: CodeAddition): ComponentCode {
  return { ...code, ...(imports.length === 0 ? {} : { imports }), ...(packagesAsOf === undefined ? {} : { packagesAsOf }) };
}

export type GivenComponent = ResolvedCode | { readonly kind: "saved"; readonly component: SavedComponent };

export type Loadable = Pick<BuiltCode, "bundle" | "packagesFolder">;

export interface LoadContext extends Tracked {
  readonly lock?: PackageLock;
  /** The `packagesAsOf` of that lock. */
  readonly lockAsOf?: string | undefined;
  /** Of the previous version. */
  readonly before?: readonly PackageSpec[];
  /** Set for a step of a workflow: its name when the code defines none. */
  readonly step?: string;
  /** Set for steps and actions, whose code may be older than `defineComponent`. */
  readonly isStep?: boolean | undefined;
  readonly accepts?: (definition: ComponentDefinition) => void;
  readonly start: (code: Loadable) => Promise<Unit>;
}

export interface LoadedComponent {
  readonly component: SavedComponent;
  readonly unit: Unit;
}

/** Throws PD_BUILD_FAILED, PD_PACKAGE_NOT_FOUND, PD_LOAD_FAILED and the like, PD_NOT_A_COMPONENT. */
export async function loadComponent(ports: BuildPorts, given: GivenComponent, context: LoadContext): Promise<LoadedComponent> {
  const { accepts = () => {}, start } = context;
  if (given.kind === "saved") {
    const { component } = given;
    accepts(component.definition);
    return { component, unit: await start({ bundle: component.bundle, packagesFolder: component.packagesFolder }) };
  }
  const { built, unit } = await buildAndStart(ports, given, context);
  try {
    const definition = definitionOf(unit, built, context.step);
    accepts(definition);
    return { component: savedComponentOf(ports, built, definition), unit };
  } catch (error) {
    unit.kill("its definition was rejected");
    throw error;
  }
}

/** Builds again without ranges of the project's package.json that are too old for the code. */
async function buildAndStart(
  ports: BuildPorts,
  resolved: ResolvedCode,
  { lock: known = {}, lockAsOf, before = [], step, isStep = step !== undefined, progress, start }: LoadContext,
): Promise<{ built: BuiltCode; unit: Unit }> {
  // A lock of another day is not used.
  const lock = lockAsOf === resolved.code.packagesAsOf ? known : {};
  for (let lifted: readonly LiftedRange[] = []; ;) {
    const built = await buildCode(ports, resolved, { lock, lifted, before, isStep, progress });
    progress?.({ step: "loading" });
    try {
      return { built, unit: await start(built) };
    } catch (error) {
      const range = rangeToLift(error, built.bundle.packages);
      if (range === undefined || lifted.some(({ name }) => name === range.name)) throw suggestingDay(error, built);
      lifted = [...lifted, range];
    }
  }
}

function suggestingDay(error: unknown, { code, bundle }: BuiltCode): unknown {
  const isUnpinned = bundle.packages.some(({ range }) => range === undefined);
  if (!(error instanceof PdError) || error.code !== "PD_LOAD_FAILED" || !isUnpinned || code.packagesAsOf !== undefined || bundle.python !== undefined)
    return error;
  // The sandbox has given more specific advice.
  if (error.fix !== new PdError("PD_LOAD_FAILED", "").fix) return error;
  const names = bundle.packages.flatMap(({ name, range }) => (range === undefined ? [name] : [])).join(", ");
  return new PdError(error.code, error.message, {
    fix: `If the code is older than ${names}, install the packages of its time: --packages-as-of 2023-06-01, or settings: { packages_as_of: 2023-06-01 } in workflow.yaml`,
    details: error.details ?? {},
    cause: error,
  });
}

interface BuildContext extends Tracked {
  readonly lock: PackageLock;
  readonly lifted: readonly LiftedRange[];
  readonly before: readonly PackageSpec[];
  readonly isStep: boolean;
}

async function buildCode(
  ports: BuildPorts,
  { code, origin, lock: ownLock }: ResolvedCode,
  { lock, lifted, before, isStep, progress }: BuildContext,
): Promise<BuiltCode> {
  progress?.({ step: "bundling" });
  const result = await ports.bundler.bundle(code, { isStep });
  if (result.kind === "failed") throw buildFailed(code.path, result.problems);
  const { packages } = result.bundle;
  const isLifted = (name: string): boolean => lifted.some((range) => range.name === name);
  // Keeps the package version that was installed when the previous version dropped the range.
  const all = [...lifted, ...rangesLiftedBefore(packages, before).filter(({ name }) => !isLifted(name))];
  const pins = Object.fromEntries(Object.entries(ownLock ?? lock).filter(([name]) => !isLifted(name)));
  // The installed version may be the one that has just proved too old.
  const asked = withoutRanges(packages, all).map((spec) => (isLifted(spec.name) ? { ...spec, range: "latest" } : spec));
  const { folder, lock: nextLock } = await ports.packages.resolve(asked, pins, {
    progress,
    asOf: code.packagesAsOf,
    language: result.bundle.python === undefined ? undefined : "python",
  });
  const bundle = { ...result.bundle, packages: withLacks(packages, all) };
  return { code, hash: result.hash, origin, bundle, lock: nextLock, packagesFolder: folder, lifted: all, warnings: result.warnings ?? [] };
}

/** Throws PD_NOT_A_COMPONENT with every problem. */
function definitionOf(unit: Unit, { code: { path }, bundle }: Pick<BuiltCode, "code" | "bundle">, step: string | undefined): ComponentDefinition {
  const read = step === undefined ? readDefinition(unit.definition, bundle.code) : readStepDefinition(unit.definition, bundle.code, step);
  if (read.kind === "valid") return read.definition;
  const problems = read.problems.map((problem) => `\n  - ${problem}`).join("");
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot use ${path} as a component:${problems}`, { details: { problems: read.problems } });
}

async function fetchCode({ origin }: Pick<CodePorts, "origin">, url: string): Promise<ComponentCode> {
  const text = await origin.fetch(url);
  const name = new URL(url).pathname.split("/").at(-1) ?? "";
  return { path: /\.(m|c)?(j|t)s$/.test(name) ? name : "component.js", text, files: {} };
}

/** Throws PD_NOT_A_COMPONENT. */
export function requireSource({ name, type }: ComponentDefinition): void {
  if (type === "source") return;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot deploy ${name}: its type is "${type}", and only sources can be deployed`, {
    fix: type === "action" ? "Run it with pd run-action, or on each save with pd dev" : "Deploy a component whose type is source or missing",
    details: { type },
  });
}

/** Throws PD_NOT_A_COMPONENT. */
export function requireAction({ name, type }: ComponentDefinition): void {
  if (type === "action") return;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot run ${name} as an action: its type is "${type}"`, {
    fix: type === "source" ? "Deploy it with pd deploy, then run it with pd run" : 'An action has type: "action"',
    details: { type },
  });
}

function savedComponentOf({ clock }: Pick<BuildPorts, "clock">, built: BuiltCode, definition: ComponentDefinition): SavedComponent {
  const { code, hash, origin, bundle, lock, packagesFolder, lifted, warnings } = built;
  const told = [...warnings, ...lifted.map(liftWarning)];
  return {
    id: `sc_${clock.randomText(7)}`,
    code,
    hash,
    origin,
    bundle,
    definition: told.length === 0 ? definition : { ...definition, warnings: [...definition.warnings, ...told] },
    lock,
    ...(packagesFolder === undefined ? {} : { packagesFolder }),
    isTransient: true,
    createdAt: clock.now(),
  };
}
