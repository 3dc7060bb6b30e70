import { didYouMean } from "./did-you-mean.ts";
import { PdError } from "./errors.ts";

/** What people call something that is deployed. */
export interface Named {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const MOST_CANDIDATES = 8;

/**
 * What a word names: an id before a slug, a slug before a name, and a name as it is written before one whose case
 * differs. `undefined`: nothing. Throws PD_AMBIGUOUS when several have the name.
 */
function findNamed<Thing extends Named>(things: readonly Thing[], word: string): Thing | undefined {
  const exact = exactly(things, word);
  if (exact !== undefined) return exact;
  const wanted = word.trim().toLowerCase();
  const written = things.filter(({ name }) => name === word);
  const found = written.length > 0 ? written : things.filter(({ name }) => name.trim().toLowerCase() === wanted);
  if (found.length > 1) throw ambiguous(word, found);
  return found[0];
}

function ambiguous(word: string, found: readonly Named[]): PdError {
  const shown = found.slice(0, MOST_CANDIDATES).map(({ id, slug }) => `${slug} (${id})`);
  const more = found.length > MOST_CANDIDATES ? [`${found.length - MOST_CANDIDATES} more`] : [];
  return new PdError("PD_AMBIGUOUS", `${found.length} have the name ${JSON.stringify(word)}: ${[...shown, ...more].join(", ")}`, {
    details: { candidates: found.map(({ id, slug }) => ({ id, slug })) },
  });
}

export interface Looking {
  /** Such as "show source". */
  readonly attempted: string;
  readonly what?: "source" | "workflow";
  /** Whoever destroys something names it by id or slug: a name may be that of another by now. */
  readonly isExact?: boolean;
}

/** What a word names; when that is nothing, the error tells what was attempted and the nearest slug or name. */
export function theNamed<Thing extends Named>(things: readonly Thing[], word: string, { attempted, what = "source", isExact = false }: Looking): Thing {
  const found = isExact ? exactly(things, word) : findNamed(things, word);
  if (found !== undefined) return found;
  const near = didYouMean(
    word,
    things.flatMap(({ slug, name }) => (isExact ? [slug] : [slug, name])),
  );
  const code = what === "source" ? "PD_SOURCE_NOT_FOUND" : "PD_WORKFLOW_NOT_FOUND";
  const forms = isExact ? "id or slug, which this wants" : "id, slug or name";
  throw new PdError(code, `Cannot ${attempted} ${JSON.stringify(word)}: no ${what} has this ${forms}${near}`);
}

function exactly<Thing extends Named>(things: readonly Thing[], word: string): Thing | undefined {
  return things.find(({ id }) => id === word) ?? things.find(({ slug }) => slug === word);
}
