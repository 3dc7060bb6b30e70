import { isSameJson } from "./json.ts";
import type { SavedId } from "./ids.ts";
import type { Origin, SavedComponent } from "./saved-component.ts";

/** A code that a source ran on. */
export interface SourceVersion {
  /** From 1, in the order in which the source got them. */
  readonly number: number;
  readonly componentId: SavedId;
  readonly hash: string;
  /** What the component says of itself. */
  readonly declaredVersion: string;
  readonly origin: Origin;
  /** When the source began to run on it. */
  readonly at: number;
}

/** So many of the newest versions stay, whatever ran on them; an older one stays as long as a kept call ran on it. */
export const NEWEST_VERSIONS = 20;

/** Whether a source that goes on with other code has got another version: the same text with other packages is one. */
export function isOtherVersion(before: Pick<SavedComponent, "hash" | "lock">, after: Pick<SavedComponent, "hash" | "lock">): boolean {
  return before.hash !== after.hash || !isSameJson({ ...before.lock }, { ...after.lock });
}
