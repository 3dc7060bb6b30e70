import { relativeTime } from "../../domain/text/relative-time.ts";
import type { WorkflowRun } from "../types.ts";

const MOST_SHOWN = 60;

/** Id → text. */
export function runChoices(runs: readonly WorkflowRun[]): Record<string, string> {
  const now = Date.now();
  return Object.fromEntries(
    runs.map(({ id, state, arrived = "", started_at_ms: at }) => [
      id,
      `${state} ${relativeTime(at, now)}: ${arrived === "" ? id : arrived.slice(0, MOST_SHOWN)}`,
    ]),
  );
}
