import { PdError } from "../../domain/errors.ts";
import type { PackageSpec } from "../../domain/package-spec.ts";

/** A range that was not kept to, and why. */
export interface LiftedRange {
  readonly name: string;
  readonly range: string;
  /** The export that the version in range lacks. */
  readonly missing: string;
}

/** As Node says it, of modules and of packages in CommonJS. */
const MISSING_EXPORT = [
  /requested module '(?<module>[^']+)' does not provide an export named '(?<name>[^']+)'/,
  /Named export '(?<name>[^']+)' not found\. The requested module '(?<module>[^']+)'/,
];

/**
 * Which range to give up, when code could not be loaded because a package lacks an export: one that a project's
 * package.json asks for may be older than the code beside it. What the import itself asks for stays.
 */
export function rangeToLift(error: unknown, packages: readonly PackageSpec[]): LiftedRange | undefined {
  if (!(error instanceof PdError) || error.code !== "PD_LOAD_FAILED") return undefined;
  const found = MISSING_EXPORT.map((pattern) => pattern.exec(error.message)?.groups).find((groups) => groups !== undefined);
  const [module, missing] = [found?.["module"] ?? "", found?.["name"] ?? ""];
  const spec = packages.find(
    ({ name, range, isOfProject }) => isOfProject === true && range !== undefined && (module === name || module.startsWith(`${name}/`)),
  );
  return spec?.range === undefined ? undefined : { name: spec.name, range: spec.range, missing };
}

/** The packages without the ranges that were given up: the newest of each is taken. */
export function withoutRanges(packages: readonly PackageSpec[], lifted: readonly LiftedRange[]): readonly PackageSpec[] {
  return packages.map(({ range, ...spec }) => (range === undefined || lifted.some(({ name }) => name === spec.name) ? spec : { ...spec, range }));
}

/** Ranges that the version before has given up, and that its project still asks for. */
export function rangesLiftedBefore(packages: readonly PackageSpec[], before: readonly PackageSpec[]): readonly LiftedRange[] {
  return packages.flatMap(({ name, range, isOfProject }) => {
    const known = before.find((spec) => spec.name === name && spec.range === range && spec.lacks !== undefined);
    return isOfProject === true && range !== undefined && known?.lacks !== undefined ? [{ name, range, missing: known.lacks }] : [];
  });
}

/** The packages as they are remembered: which of their ranges were given up, and why. */
export function withLacks(packages: readonly PackageSpec[], lifted: readonly LiftedRange[]): readonly PackageSpec[] {
  return packages.map((spec) => {
    const range = lifted.find(({ name }) => name === spec.name);
    return range === undefined ? spec : { ...spec, lacks: range.missing };
  });
}

/** What the record of the component tells. */
export function liftWarning({ name, range, missing }: LiftedRange): string {
  return `${name} is not taken in the range ${JSON.stringify(range)} of package.json, whose version has no export ${JSON.stringify(missing)}: the newest is`;
}
