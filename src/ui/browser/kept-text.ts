import { isJsonObject, parseJson } from "../../domain/text/json.ts";

const PREFIX = "headwater-typed ";

/** Text that is not saved. */
export interface KeptText {
  /** What was stored when it was typed. */
  readonly before: string;
  readonly text: string;
}

/** In this tab, over a reload. */
export function keptText(place: string): KeptText | undefined {
  const kept = parseJson(sessionStorage.getItem(PREFIX + place) ?? "null");
  return isJsonObject(kept) && typeof kept["before"] === "string" && typeof kept["text"] === "string"
    ? { before: kept["before"], text: kept["text"] }
    : undefined;
}

/** Undefined forgets it. */
export function keepText(place: string, kept: KeptText | undefined): void {
  if (kept === undefined) return sessionStorage.removeItem(PREFIX + place);
  try {
    sessionStorage.setItem(PREFIX + place, JSON.stringify(kept));
  } catch {
    // The tab's storage is full. The page still asks before it is left.
  }
}

/** Places that begin with this. */
export function keptPlaces(start: string): readonly string[] {
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX + start));
  return names.map((name) => name.slice(PREFIX.length));
}

export function forgetTexts(): void {
  for (const place of keptPlaces("")) keepText(place, undefined);
}
