import { PdError } from "../../domain/errors.ts";
import type { PackageSpec } from "../../domain/component/package-spec.ts";

export interface LiftedRange {
  readonly name: string;
  readonly range: string;
  /** The version in range does not have it. */
  readonly missing: string;
}

/** Node's messages for ES modules and for CommonJS packages. */
const MISSING_EXPORT = [
  /requested module '(?<module>[^']+)' does not provide an export named '(?<name>[^']+)'/,
  /Named export '(?<name>[^']+)' not found\. The requested module '(?<module>[^']+)'/,
];

/**
 * Undefined unless a package lacks an export. Only a range of the project's package.json is dropped, because it may be
 * older than the code.
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

export function withoutRanges(packages: readonly PackageSpec[], lifted: readonly LiftedRange[]): readonly PackageSpec[] {
  return packages.map(({ range, ...spec }) => (range === undefined || lifted.some(({ name }) => name === spec.name) ? spec : { ...spec, range }));
}

export function rangesLiftedBefore(packages: readonly PackageSpec[], before: readonly PackageSpec[]): readonly LiftedRange[] {
  return packages.flatMap(({ name, range, isOfProject }) => {
    const known = before.find((spec) => spec.name === name && spec.range === range && spec.lacks !== undefined);
    return isOfProject === true && range !== undefined && known?.lacks !== undefined ? [{ name, range, missing: known.lacks }] : [];
  });
}

export function withLacks(packages: readonly PackageSpec[], lifted: readonly LiftedRange[]): readonly PackageSpec[] {
  return packages.map((spec) => {
    const range = lifted.find(({ name }) => name === spec.name);
    return range === undefined ? spec : { ...spec, lacks: range.missing };
  });
}

export function liftWarning({ name, range, missing }: LiftedRange): string {
  return `Using the newest ${name} in place of the range ${JSON.stringify(range)} in package.json, whose version has no export ${JSON.stringify(missing)}`;
}
