/** Example: `axios`, `got@13.0.0/dist`, `@scope/x@^1`. */
export interface PackageImport {
  readonly name: string;
  /** Text after `@`. */
  readonly range?: string;
  /** With its leading slash, or empty. */
  readonly subpath: string;
}

export interface PackageSpec {
  /** Name under which it is installed. */
  readonly name: string;
  /** The package's own name when `name` is an alias, because two versions are installed. */
  readonly aliasOf?: string;
  /** Version, range or `latest`. Omitted for the current version, which is then pinned. */
  readonly range?: string;
  /** The range comes from a package.json, not from the import. */
  readonly isOfProject?: true;
  /** The range was ignored because its versions lack this export. */
  readonly lacks?: string;
  /** `file:line` of the first import. */
  readonly importedAt: string;
}

/** Package name → exact version. */
export type PackageLock = Readonly<Record<string, string>>;

const IMPORT = /^(?<name>(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[A-Za-z0-9-~][A-Za-z0-9-._~]*)(?:@(?<range>[^/]+))?(?<subpath>\/.*)?$/;

export function parsePackageImport(text: string): PackageImport | undefined {
  const groups = IMPORT.exec(text)?.groups;
  if (groups?.["name"] === undefined) return undefined;
  return {
    name: groups["name"],
    ...(groups["range"] === undefined ? {} : { range: groups["range"] }),
    subpath: groups["subpath"] ?? "",
  };
}

/** Example: `lodash--3.10.1`. */
export function aliasFor(name: string, range: string): string {
  return `${name}--${range.replaceAll(/[^\w.-]+/g, "-").toLowerCase()}`;
}

/** An existing day, such as `2023-06-01`, for npm's `--before`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

export function isBareImport(text: string): boolean {
  return !/^(\.{0,2}\/|\.{1,2}$|[a-z][a-z0-9+.-]*:)/i.test(text);
}

/** A pin must not be a URL or a path. */
export const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;
