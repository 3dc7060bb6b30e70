import { didYouMean } from "../text/did-you-mean.ts";
import { PdError } from "../errors.ts";

export interface Named {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const MOST_CANDIDATES = 8;

/** Prefers an id, then a slug, an exact name, and a name in any case. Throws PD_AMBIGUOUS. */
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
  return new PdError("PD_AMBIGUOUS", `${found.length} items are named ${JSON.stringify(word)}: ${[...shown, ...more].join(", ")}`, {
    details: { candidates: found.map(({ id, slug }) => ({ id, slug })) },
  });
}

export interface Looking {
  /** Such as "show source". */
  readonly attempted: string;
  readonly what?: "source" | "workflow";
  /** Accepts only an id or slug. For deletions, because names may move to another source. */
  readonly isExact?: boolean;
}

/** Throws PD_SOURCE_NOT_FOUND or PD_WORKFLOW_NOT_FOUND. */
export function theNamed<Thing extends Named>(things: readonly Thing[], word: string, { attempted, what = "source", isExact = false }: Looking): Thing {
  const found = isExact ? exactly(things, word) : findNamed(things, word);
  if (found !== undefined) return found;
  const near = didYouMean(
    word,
    things.flatMap(({ slug, name }) => (isExact ? [slug] : [slug, name])),
  );
  const code = what === "source" ? "PD_SOURCE_NOT_FOUND" : "PD_WORKFLOW_NOT_FOUND";
  const forms = isExact ? "id or slug" : "id, slug or name";
  throw new PdError(code, `Cannot ${attempted} ${JSON.stringify(word)}: no ${what} has this ${forms}${near}`);
}

function exactly<Thing extends Named>(things: readonly Thing[], word: string): Thing | undefined {
  return things.find(({ id }) => id === word) ?? things.find(({ slug }) => slug === word);
}
