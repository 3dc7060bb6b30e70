import type { ComponentCode, RegistryOrigin } from "./saved-component.ts";

export interface Registry {
  readonly name: string;
  /** A `folder` has the layout `components/<app>/…`. */
  readonly kind: "folder" | "npm" | "git" | "tarball";
  /** Path on the server, npm scope, or URL. */
  readonly location: string;
}

export interface IndexedComponent {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly type: "source" | "action";
  readonly registry: string;
  /** Path inside the registry. */
  readonly path: string;
}

export interface RegistryComponent {
  readonly code: ComponentCode;
  readonly origin: RegistryOrigin;
}

/** Keys and slugs become file and package names. */
const MOST_CHARACTERS = 200;

/** Keys reach paths, package names and commands. */
export function isKey(text: string): boolean {
  return text.length <= MOST_CHARACTERS && /^\w+(?:-+\w+)+$/.test(text);
}

export function isAppSlug(text: string): boolean {
  return text.length <= MOST_CHARACTERS && /^\w+$/.test(text);
}

/** Removes the name and password. */
export function publicLocation(location: string): string {
  return location.replace(/^(\w[\w+.-]*:\/\/)[^/?#]*@/, "$1");
}

/** `gitlab-new-issue` → `gitlab`. Slugs have no hyphens. */
export function appOfKey(key: string): string {
  return key.split("-")[0] ?? key;
}

/** Distinguishes keys from files and URLs. */
export function looksLikeKey(text: string): boolean {
  return /^[a-z0-9_]+(-[a-z0-9_]+)+$/.test(text);
}

/** Only registries require an app and a hyphen in a key. */
export function mayBeKey(text: string): boolean {
  return /^\w+(-\w+)*$/.test(text);
}

const MOST_WORDS = 20;

/** Best first. Every word must match. */
export function searchIndex(index: readonly IndexedComponent[], query: string): readonly IndexedComponent[] {
  const given = query.toLowerCase().split(/[\s,]+/);
  const words = [...new Set(given.filter((word) => word !== ""))].slice(0, MOST_WORDS);
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.entry.key < b.entry.key ? -1 : 1))
    .map(({ entry }) => entry);
}

function scoreOf({ key, name, description }: IndexedComponent, words: readonly string[]): number {
  let total = 1;
  for (const word of words) {
    const score =
      6 * Number(appOfKey(key) === word) +
      3 * Number(name.toLowerCase().includes(word)) +
      2 * Number(key.includes(word)) +
      Number(description.toLowerCase().includes(word));
    if (score === 0) return 0;
    total += score;
  }
  return total;
}
