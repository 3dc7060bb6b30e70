import semver from "semver";

/** `1.2.3`, and nothing less. */
export function isExactVersion(text: string): boolean {
  return semver.valid(text) !== null;
}

/** A range as registries understand it, or `latest`. */
export function isVersionRange(text: string): boolean {
  return semver.validRange(text) !== null || text === "latest";
}

/** What may stand behind the `@` of an import: nothing that npm would take for another package, a path or an address. */
export function isVersionOrTag(text: string): boolean {
  return isVersionRange(text) || /^[a-z][\w.-]*$/i.test(text);
}

export function satisfiesRange(version: string, range: string): boolean {
  return range === "latest" || semver.satisfies(version, range);
}

/** Negative when `left` is older. */
export function compareVersions(left: string, right: string): number {
  return semver.compare(left, right);
}
