import { isJsonObject, parseJson } from "../../domain/text/json.ts";

const PREFIX = "headwater-typed ";

/** Text that is not saved. */
export interface KeptText {
  /** What was stored when it was typed. */
  readonly before: string;
  readonly text: string;
}

/** Until the page is reloaded. */
const here = new Map<string, KeptText>();

export function keptText(place: string): KeptText | undefined {
  const known = here.get(place);
  if (known !== undefined) return known;
  const kept = parseJson(sessionStorage.getItem(PREFIX + place) ?? "null");
  return isJsonObject(kept) && typeof kept["before"] === "string" && typeof kept["text"] === "string"
    ? { before: kept["before"], text: kept["text"] }
    : undefined;
}

/** Undefined forgets it. `safe`, without secrets, is kept in this tab over a reload. */
export function keepText(place: string, kept: KeptText | undefined, safe: KeptText | undefined = kept): void {
  sessionStorage.removeItem(PREFIX + place);
  if (kept === undefined) return void here.delete(place);
  here.set(place, kept);
  try {
    if (safe !== undefined) sessionStorage.setItem(PREFIX + place, JSON.stringify(safe));
  } catch {
    // The tab's storage is full. The page still asks before it is left.
  }
}

/** Places that begin with this. */
export function keptPlaces(start: string): readonly string[] {
  const stored = Object.keys(sessionStorage).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
  return [...new Set([...stored, ...here.keys()])].filter((place) => place.startsWith(start));
}

export function forgetTexts(start = ""): void {
  for (const place of keptPlaces(start)) keepText(place, undefined);
}
