import type { ComponentDefinition } from "./component.ts";
import type { SavedId } from "../ids.ts";
import type { JsonObject } from "../text/json.ts";
import type { PackageLock, PackageSpec } from "./package-spec.ts";

/** An entry with the local files that it imports. */
export interface ComponentCode {
  /** Relative to the root of all files. */
  readonly path: string;
  readonly text: string;
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>;
  /** Loaded before it, in this order. */
  readonly imports?: readonly ComponentCode[];
  /** Date for unpinned packages (`2023-06-01`). Omitted for today's. */
  readonly packagesAsOf?: string;
  /** Declared by the workflow, because a Python file cannot. */
  readonly declares?: JsonObject;
  /** Python version that it was written for, such as `3.12`. */
  readonly wantsPython?: string;
}

export function isPython({ path }: Pick<ComponentCode, "path">): boolean {
  return path.endsWith(".py");
}

/** Path → text. `before it: ` marks files of `imports`. */
export function filesOfCode({ path, text, files, imports = [] }: ComponentCode): Record<string, string> {
  const all: Record<string, string> = { ...files, [path]: text };
  for (const imported of imports) for (const [name, content] of Object.entries(filesOfCode(imported))) all[`before it: ${name}`] = content;
  return all;
}

/** Used to find newer versions. */
export interface RegistryOrigin {
  readonly kind: "registry";
  readonly registry: string;
  readonly key: string;
  /** Path inside the registry. */
  readonly path: string;
  /** `name@version` of the npm package. */
  readonly package?: string;
  readonly commit?: string;
}

export type Origin = { readonly kind: "inline" } | { readonly kind: "url"; readonly url: string } | RegistryOrigin;

export interface BundleImport {
  readonly specifier: string;
  readonly isRequire: boolean;
}

/** ES module text, and its source map as JSON text. */
export interface BuiltModule {
  readonly code: string;
  readonly map: string;
}

export interface PythonStep {
  /** Path from the step's folder → text. */
  readonly files: Readonly<Record<string, string>>;
  readonly props: JsonObject;
  /** When false, each call runs the file itself. */
  readonly hasHandler: boolean;
}

export interface Bundle {
  readonly preloads?: readonly BuiltModule[];
  /** ES module text without packages. */
  readonly code: string;
  /** Source map as JSON text. */
  readonly map: string;
  readonly packages: readonly PackageSpec[];
  /** Package imports, to load them beforehand. */
  readonly imports: readonly BundleImport[];
  readonly python?: PythonStep;
  /** The server emits what triggers it, without code or process. */
  readonly isBuiltIn?: true;
}

export interface SavedComponent {
  readonly id: SavedId;
  readonly code: ComponentCode;
  /** SHA-256 of the code and its files, hex. */
  readonly hash: string;
  readonly origin: Origin;
  readonly bundle: Bundle;
  readonly definition: ComponentDefinition;
  readonly lock: PackageLock;
  /** Omitted when no packages are needed. */
  readonly packagesFolder?: string;
  /** Created by a deploy. Deleted with the last source that uses it. */
  readonly isTransient: boolean;
  readonly createdAt: number;
}
