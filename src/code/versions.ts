import compare from "semver/functions/compare.js";
import satisfies from "semver/functions/satisfies.js";
import valid from "semver/functions/valid.js";
import validRange from "semver/ranges/valid.js";

export function isExactVersion(text: string): boolean {
  return valid(text) !== null;
}

export function isVersionRange(text: string): boolean {
  return validRange(text) !== null || text === "latest";
}

/** Nothing that npm reads as another package, a path or a URL. */
export function isVersionOrTag(text: string): boolean {
  return isVersionRange(text) || /^[a-z][\w.-]*$/i.test(text);
}

export function satisfiesRange(version: string, range: string): boolean {
  return range === "latest" || satisfies(version, range);
}

/** Negative when `left` is older. */
export function compareVersions(left: string, right: string): number {
  return compare(left, right);
}
