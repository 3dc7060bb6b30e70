/** A package as an import names it: `axios`, `got@13.0.0/dist`, `@scope/x@^1`. */
export interface PackageImport {
  readonly name: string;
  /** Text after `@`; absent for a plain name. */
  readonly range?: string;
  /** Path inside the package with its leading slash, or the empty string. */
  readonly subpath: string;
}

/** A package that a component needs, with the places that import it. */
export interface PackageSpec {
  /** Under which it is installed: its own name, or one that tells its versions apart. */
  readonly name: string;
  /** Its own name, where it is installed under another one beside another version. */
  readonly aliasOf?: string;
  /** Version, range or `latest`; absent: whatever is current, then pinned (components.md, Versioning 3). */
  readonly range?: string;
  /** The range is that of a package.json beside the code, not of the import. */
  readonly isOfProject?: true;
  /** The range is not kept to: what is in it lacks this export. */
  readonly lacks?: string;
  /** `file:line` of the first import. */
  readonly importedAt: string;
}

/** Package name → the exact version that the component runs on. */
export type PackageLock = Readonly<Record<string, string>>;

const IMPORT = /^(?<name>(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[A-Za-z0-9-~][A-Za-z0-9-._~]*)(?:@(?<range>[^/]+))?(?<subpath>\/.*)?$/;

/** Splits a bare import; `undefined` when it cannot name a package. */
export function parsePackageImport(text: string): PackageImport | undefined {
  const groups = IMPORT.exec(text)?.groups;
  if (groups?.["name"] === undefined) return undefined;
  return {
    name: groups["name"],
    ...(groups["range"] === undefined ? {} : { range: groups["range"] }),
    subpath: groups["subpath"] ?? "",
  };
}

/** The name of a second version of a package: `lodash--3.10.1`. */
export function aliasFor(name: string, range: string): string {
  return `${name}--${range.replaceAll(/[^\w.-]+/g, "-").toLowerCase()}`;
}

/** `2023-06-01`, a day that exists and that npm's `--before` accepts. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Relative, absolute and URL imports are not packages. */
export function isBareImport(text: string): boolean {
  return !/^(\.{0,2}\/|\.{1,2}$|[a-z][a-z0-9+.-]*:)/i.test(text);
}

/** A pin is a version of the registry, never an address or a path. */
export const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;
