import type { PackageLock, PackageSpec } from "../domain/package-spec.ts";
import type { Progress } from "./progress.ts";

export interface ResolvedPackages {
  /** Folder whose `node_modules` has them; absent when nothing is needed. */
  readonly folder?: string;
  readonly lock: PackageLock;
}

export interface ResolveOptions {
  readonly progress?: Progress | undefined;
  /** Only versions that were published by the end of this day, also of the packages' own dependencies. */
  readonly asOf?: string | undefined;
  /** Whose packages; omitted: of Node. */
  readonly language?: "python" | undefined;
}

/** Finds or installs the packages that a component imports. */
export interface PackageResolver {
  /**
   * A plain name stays at the version in `lock`; a range stays while the lock satisfies it; `latest` is asked
   * for again. `progress` is told when something has to be installed. Throws PD_PACKAGE_NOT_FOUND (naming the import's line), PD_PACKAGES_UNREACHABLE, PD_INSTALL_FAILED, PD_NPM_MISSING.
   */
  resolve(specs: readonly PackageSpec[], lock: PackageLock, options?: ResolveOptions): Promise<ResolvedPackages>;
  /** Where the `node_modules` of a folder name from `resolve` lies. */
  locate(folder: string): string;
  /** False: this server cannot load what is in the folder, because it was installed for another version of Python. */
  fits(folder: string): Promise<boolean>;
}
