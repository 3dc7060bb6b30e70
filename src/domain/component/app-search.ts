import { didYouMean } from "../text/did-you-mean.ts";

/** An app, and words of what its components are about, such as `issue`. */
export interface AppTopics {
  readonly slug: string;
  readonly name: string;
  readonly topics: string;
}

/** Words of `new issue` that no topic has are ignored. Best first. */
export function appsAbout(query: string, apps: Iterable<AppTopics>): readonly string[] {
  const words = wordsOf(query);
  return [...apps]
    .map(({ slug, name, topics }) => ({ slug, score: scoreOf(words, { slug, name, topics }) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.slug < b.slug ? -1 : 1))
    .map(({ slug }) => slug);
}

function scoreOf(words: readonly string[], { slug, name, topics }: AppTopics): number {
  const about = new Set(wordsOf(topics));
  const names = [slug, ...wordsOf(name)];
  return words.reduce((sum, word) => sum + (names.includes(word) ? 3 : 0) + (about.has(word) ? 1 : 0), 0);
}

/** In lower case, without a plural's `s`. */
function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}

/** The known app that a mistyped one means. */
export function nearestApp(typed: string, slugs: readonly string[]): string | undefined {
  const text = typed.trim().toLowerCase().replaceAll(/\s+/g, "_");
  return /mean (\S+)\?/.exec(didYouMean(text, slugs))?.[1];
}
