import { PdError } from "../../domain/errors.ts";
import type { LiveSource } from "./live-source.ts";

/** Why its row, or that of its code, cannot be read: this program did not write it so. It can be shown by its outline, and deleted. */
export function unreadableBecause(live: Pick<LiveSource, "source" | "definition">): string | undefined {
  try {
    // Both are read when somebody looks at them.
    void live.source;
    void live.definition;
    return undefined;
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_DATABASE_DAMAGED") return error.message;
    throw error;
  }
}
