import type { PackageLock, PackageSpec } from "../domain/component/package-spec.ts";
import type { Progress } from "./progress.ts";

export interface ResolvedPackages {
  /** Contains `node_modules`. Omitted when no packages are needed. */
  readonly folder?: string;
  readonly lock: PackageLock;
}

export interface ResolveOptions {
  readonly progress?: Progress | undefined;
  /** Only versions published by the end of this day, also for dependencies. */
  readonly asOf?: string | undefined;
  /** Omitted for Node. */
  readonly language?: "python" | undefined;
}

export interface PackageResolver {
  /**
   * A plain name keeps its version in `lock`, and a range keeps it while it fits. `latest` is resolved again. Throws
   * PD_PACKAGE_NOT_FOUND (with the import's line), PD_PACKAGES_UNREACHABLE, PD_INSTALL_FAILED, PD_NPM_MISSING.
   */
  resolve(specs: readonly PackageSpec[], lock: PackageLock, options?: ResolveOptions): Promise<ResolvedPackages>;
  /** Path of a `folder` from `resolve`. */
  locate(folder: string): string;
  /** False after an installation for another version of Python. */
  fits(folder: string): Promise<boolean>;
}
