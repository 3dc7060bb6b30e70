import type { Bundler } from "../../ports/bundler.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CodeOrigin } from "../../ports/code-origin.ts";
import type { PackageResolver } from "../../ports/package-resolver.ts";
import type { Progress, Tracked } from "../../ports/progress.ts";
import { type ComponentDefinition, readDefinition, readStepDefinition } from "../../domain/component.ts";
import { PdError } from "../../domain/errors.ts";
import { buildFailed } from "../../domain/build-problem.ts";
import type { PackageLock, PackageSpec } from "../../domain/package-spec.ts";
import type { Bundle, ComponentCode, Origin, SavedComponent } from "../../domain/saved-component.ts";
import type { Unit } from "../../ports/runner.ts";
import { withFetchedImports } from "./fetch-imports.ts";
import { type LiftedRange, liftWarning, rangeToLift, rangesLiftedBefore, withLacks, withoutRanges } from "./lift-range.ts";
import { Registries, type RegistryPorts } from "./registries.ts";

/** What makes a component of code that is here. */
export interface BuildPorts {
  readonly bundler: Bundler;
  readonly packages: Pick<PackageResolver, "resolve">;
  readonly clock: Clock;
}

/** The same of code that has to be found first. */
export interface CodePorts extends BuildPorts, RegistryPorts {
  readonly packages: PackageResolver;
  readonly origin: CodeOrigin;
}

/** Code as a caller gives it. */
export type CodeInput =
  | { readonly kind: "code"; readonly code: ComponentCode; readonly lock?: PackageLock }
  | ({ readonly kind: "url"; readonly url: string } & CodeAddition)
  /** Of the first registry that has the key, or of the one that is named. */
  | ({ readonly kind: "key"; readonly key: string; readonly registry?: string } & CodeAddition);

/** What a caller adds to code that comes from elsewhere. */
type CodeAddition = Pick<ComponentCode, "imports" | "packagesAsOf">;

/** Code that is here. */
export interface ResolvedCode {
  readonly kind: "resolved";
  readonly code: ComponentCode;
  readonly origin: Origin;
  readonly lock?: PackageLock;
}

/** Code that is bundled and has its packages, but was not loaded yet. */
interface BuiltCode {
  readonly code: ComponentCode;
  readonly hash: string;
  readonly origin: Origin;
  readonly bundle: Bundle;
  readonly lock: PackageLock;
  readonly packagesFolder: string | undefined;
  /** Ranges that its project asks for, and that its own imports do not fit. */
  readonly lifted: readonly LiftedRange[];
  /** What will fail when it is reached. */
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

/** Code that is here, or what was saved of it. */
export type GivenComponent = ResolvedCode | { readonly kind: "saved"; readonly component: SavedComponent };

/** What a unit is started with. */
export type Loadable = Pick<BuiltCode, "bundle" | "packagesFolder">;

export interface LoadContext extends Tracked {
  /** Versions of the packages of the version that it follows. */
  readonly lock?: PackageLock;
  /** The day that they are of. */
  readonly lockAsOf?: string | undefined;
  /** Packages of the version that it follows. */
  readonly before?: readonly PackageSpec[];
  /** It is a step of a workflow, and has this name when it gives itself none. */
  readonly step?: string;
  /** A step, or an action that is run by itself, which may be of before `defineComponent`. */
  readonly isStep?: boolean | undefined;
  /** Throws for what is not wanted here. */
  readonly accepts?: (definition: ComponentDefinition) => void;
  readonly start: (code: Loadable) => Promise<Unit>;
}

export interface LoadedComponent {
  readonly component: SavedComponent;
  readonly unit: Unit;
}

/**
 * Makes a component of code, once for all who do: bundles, installs, starts a unit and reads what it declares. Throws
 * PD_BUILD_FAILED, PD_PACKAGE_NOT_FOUND, PD_LOAD_FAILED and their like, PD_NOT_A_COMPONENT.
 */
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
    unit.kill("it is not what was wanted");
    throw error;
  }
}

/** Code whose project asks for a package that is too old for it is built once more without that range. */
async function buildAndStart(
  ports: BuildPorts,
  resolved: ResolvedCode,
  { lock: known = {}, lockAsOf, before = [], step, isStep = step !== undefined, progress, start }: LoadContext,
): Promise<{ built: BuiltCode; unit: Unit }> {
  // Versions of another day are not kept.
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

/** Returns the error, with advice for code that may be older than the packages that were installed for it. */
function suggestingDay(error: unknown, { code, bundle }: BuiltCode): unknown {
  const isUnpinned = bundle.packages.some(({ range }) => range === undefined);
  if (!(error instanceof PdError) || error.code !== "PD_LOAD_FAILED" || !isUnpinned || code.packagesAsOf !== undefined || bundle.python !== undefined)
    return error;
  // The sandbox knows better in some cases, such as native code.
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

/** Bundles and installs. */
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
  // What was given up by the version before keeps the version that it got then.
  const all = [...lifted, ...rangesLiftedBefore(packages, before).filter(({ name }) => !isLifted(name))];
  const pins = Object.fromEntries(Object.entries(ownLock ?? lock).filter(([name]) => !isLifted(name)));
  // What is installed already may be what has just turned out to be too old.
  const asked = withoutRanges(packages, all).map((spec) => (isLifted(spec.name) ? { ...spec, range: "latest" } : spec));
  const { folder, lock: nextLock } = await ports.packages.resolve(asked, pins, {
    progress,
    asOf: code.packagesAsOf,
    language: result.bundle.python === undefined ? undefined : "python",
  });
  const bundle = { ...result.bundle, packages: withLacks(packages, all) };
  return { code, hash: result.hash, origin, bundle, lock: nextLock, packagesFolder: folder, lifted: all, warnings: result.warnings ?? [] };
}

/** Reads what a loaded unit says of itself. Throws PD_NOT_A_COMPONENT with every problem. */
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

/** Throws PD_NOT_A_COMPONENT for an action or an app. */
export function requireSource({ name, type }: ComponentDefinition): void {
  if (type === "source") return;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot deploy ${name}: its type is "${type}", and only sources can be deployed`, {
    fix: type === "action" ? "pd run-action runs it, and pd dev runs it on each save" : "Deploy a component whose type is source, or absent",
    details: { type },
  });
}

/** Throws PD_NOT_A_COMPONENT for a source or an app. */
export function requireAction({ name, type }: ComponentDefinition): void {
  if (type === "action") return;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot run ${name} as an action: its type is "${type}"`, {
    fix: type === "source" ? "pd deploy deploys it, and pd run runs it then" : 'An action has type: "action"',
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
