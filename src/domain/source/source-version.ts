import { isSameJson } from "../text/json.ts";
import type { SavedId } from "../ids.ts";
import type { Origin, SavedComponent } from "../component/saved-component.ts";

export interface SourceVersion {
  /** From 1. */
  readonly number: number;
  readonly componentId: SavedId;
  readonly hash: string;
  readonly declaredVersion: string;
  readonly origin: Origin;
  /** When the source started to use it. */
  readonly at: number;
}

/** Older versions are kept only while a stored call ran on them. */
export const NEWEST_VERSIONS = 20;

/** The same text with other packages is another version. */
export function isOtherVersion(before: Pick<SavedComponent, "hash" | "lock">, after: Pick<SavedComponent, "hash" | "lock">): boolean {
  return before.hash !== after.hash || !isSameJson({ ...before.lock }, { ...after.lock });
}
