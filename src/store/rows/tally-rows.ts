import type { TimedTally } from "../../domain/trend/window.ts";
import { parseJson } from "../../domain/text/json.ts";

export function tallyOf(row: Readonly<Record<string, unknown>>): TimedTally {
  const durations = parseJson(String(row["durations"]));
  return {
    at: Number(row["at"]),
    runs: Number(row["runs"]),
    failures: Number(row["failures"]),
    events: Number(row["events"]),
    delivered: Number(row["delivered"]),
    undelivered: Number(row["undelivered"]),
    durations: Array.isArray(durations) ? durations.map(Number) : [],
  };
}
