import { PdError } from "../../../domain/errors.ts";
import type { LiveSource } from "./live-source.ts";

/** Returns why the stored row of the source or of its code cannot be read, or undefined. */
export function unreadableBecause(live: Pick<LiveSource, "source" | "definition">): string | undefined {
  try {
    // Both getters parse their row on access.
    void live.source;
    void live.definition;
    return undefined;
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_DATABASE_DAMAGED") return error.message;
    throw error;
  }
}
