import type { ComponentCode, RegistryOrigin } from "./saved-component.ts";

/** A place where components are found by key. */
export interface Registry {
  readonly name: string;
  /** A folder laid out as `components/<app>/…`, an npm scope, a Git repository, a tarball. */
  readonly kind: "folder" | "npm" | "git" | "tarball";
  /** Path of the folder on the server, npm scope, or URL. */
  readonly location: string;
}

/** What is known of a component without running it. */
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

/** A component as a registry hands it out. */
export interface RegistryComponent {
  readonly code: ComponentCode;
  readonly origin: RegistryOrigin;
}

/** Keys and slugs become names of files and packages. */
const MOST_CHARACTERS = 200;

/** Whether a text can be a component's key. Others never get as far as a path, a package name or a command. */
export function isKey(text: string): boolean {
  return text.length <= MOST_CHARACTERS && /^\w+(?:-+\w+)+$/.test(text);
}

/** Whether a text can be an app's slug. */
export function isAppSlug(text: string): boolean {
  return text.length <= MOST_CHARACTERS && /^\w+$/.test(text);
}

/** A location without the name and password that it may carry. */
export function publicLocation(location: string): string {
  return location.replace(/^(\w[\w+.-]*:\/\/)[^/?#]*@/, "$1");
}

/** `gitlab-new-issue` → `gitlab`: the app's slug comes first (registry.md). Slugs have `_` where keys have none. */
export function appOfKey(key: string): string {
  return key.split("-")[0] ?? key;
}

/** A text that can be a component's key, rather than a file or an address. */
export function looksLikeKey(text: string): boolean {
  return /^[a-z0-9_]+(-[a-z0-9_]+)+$/.test(text);
}

/** A text that a key of one's own can be: only registries ask for an app and a hyphen (components.md, `key`). */
export function mayBeKey(text: string): boolean {
  return /^\w+(-\w+)*$/.test(text);
}

/** Words of a search behind these are left out. */
const MOST_WORDS = 20;

/** A search, best first: each word has to be found; the name counts more than the key, the key more than the description. */
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
