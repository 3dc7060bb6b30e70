import semver from "semver";

/** `1.2.3`, and nothing less. */
export function isExactVersion(text: string): boolean {
  return semver.valid(text) !== null;
}

/** A range as registries understand it, or `latest`. */
export function isVersionRange(text: string): boolean {
  return semver.validRange(text) !== null || text === "latest";
}

export function satisfiesRange(version: string, range: string): boolean {
  return range === "latest" || semver.satisfies(version, range);
}

/** Negative when `left` is older. */
export function compareVersions(left: string, right: string): number {
  return semver.compare(left, right);
}
