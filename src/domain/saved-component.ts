import type { ComponentDefinition } from "./component.ts";
import type { SavedId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { PackageLock, PackageSpec } from "./package-spec.ts";

/** Code as it was given: one file, or an entry and the local files it imports. */
export interface ComponentCode {
  /** Path of the entry, relative to the root that all files share; shown in errors. */
  readonly path: string;
  readonly text: string;
  /** Path → text of the other files, from the same root. */
  readonly files: Readonly<Record<string, string>>;
  /** Modules that are loaded before it, in this order: they may change what it will find. */
  readonly imports?: readonly ComponentCode[];
  /** Packages without a version are the newest of this day, as in `2023-06-01`. Omitted: the newest. */
  readonly packagesAsOf?: string;
  /** Props that its workflow declares for it, by name: a file in Python has no place for them. */
  readonly declares?: JsonObject;
  /** The Python that it was written for, as in `3.12`. */
  readonly wantsPython?: string;
}

/** Whether it is written in Python. */
export function isPython({ path }: Pick<ComponentCode, "path">): boolean {
  return path.endsWith(".py");
}

/** Path → text of all its files; what is loaded before it has a path that says so. */
export function filesOfCode({ path, text, files, imports = [] }: ComponentCode): Record<string, string> {
  const all: Record<string, string> = { ...files, [path]: text };
  for (const imported of imports) for (const [name, content] of Object.entries(filesOfCode(imported))) all[`before it: ${name}`] = content;
  return all;
}

/** Where a component came from: enough to find out later whether there is a newer one. */
export interface RegistryOrigin {
  readonly kind: "registry";
  readonly registry: string;
  readonly key: string;
  /** Path inside the registry. */
  readonly path: string;
  /** `name@version` of the npm package. */
  readonly package?: string;
  /** Of the checkout or clone. */
  readonly commit?: string;
}

/** Where code came from. */
export type Origin = { readonly kind: "inline" } | { readonly kind: "url"; readonly url: string } | RegistryOrigin;

export interface BundleImport {
  readonly specifier: string;
  readonly isRequire: boolean;
}

/** One ES module text with its source map, JSON text. */
export interface BuiltModule {
  readonly code: string;
  readonly map: string;
}

/** What is known of a step in Python beside its text. */
export interface PythonStep {
  /** Path from the step's folder → text of the files beside it. */
  readonly files: Readonly<Record<string, string>>;
  /** Name → declaration. */
  readonly props: JsonObject;
  /** False: the file itself is what runs with each call. */
  readonly hasHandler: boolean;
}

/** Code that was built: what a process loads. */
export interface Bundle {
  /** Loaded before the component. */
  readonly preloads?: readonly BuiltModule[];
  /** ES module text; packages stay external. */
  readonly code: string;
  /** Source map, JSON text. */
  readonly map: string;
  readonly packages: readonly PackageSpec[];
  /** What the code imports from packages, to load it beforehand. */
  readonly imports: readonly BundleImport[];
  /** It is in Python, and `code` is its text. */
  readonly python?: PythonStep;
  /** There is no code: the server itself emits what triggers it, without a process. */
  readonly isBuiltIn?: true;
}

/** Code saved on the server; cannot be invoked (components.md, Saved component). */
export interface SavedComponent {
  readonly id: SavedId;
  readonly code: ComponentCode;
  /** SHA-256 of the code and its files, hex. */
  readonly hash: string;
  readonly origin: Origin;
  readonly bundle: Bundle;
  readonly definition: ComponentDefinition;
  readonly lock: PackageLock;
  /** Name of the folder that holds the packages; absent when none are needed. */
  readonly packagesFolder?: string;
  /** Made by deploying or updating a source, so it goes when no source uses it any more. */
  readonly isTransient: boolean;
  readonly createdAt: number;
}
