import type { JsonObject } from "../domain/json.ts";
import { MIGRATING } from "../system/log.ts";
import { barOf } from "./spinner.ts";
import { cut } from "./terminal-text.ts";

/** Shorter waits show no time. */
const SHOWN_FROM_MS = 1000;
/** Leaves room for the time. */
const MOST_SUBJECT = 60;

/** Such as `Installing axios@1.7 … 3 s`. Undefined when the server reports no step. */
export function stepWords(told: JsonObject | undefined): string | undefined {
  const words = wordsOf(String(told?.["step"]), cut(String(told?.["subject"] ?? ""), MOST_SUBJECT));
  const elapsed = Number(told?.["elapsed_ms"] ?? 0);
  return words === undefined || elapsed < SHOWN_FROM_MS ? words : `${words} … ${Math.floor(elapsed / 1000)} s`;
}

function wordsOf(step: string, subject: string): string | undefined {
  switch (step) {
    case "fetching":
      return `Fetching ${subject}`;
    case "bundling":
      return "Bundling";
    case "installing":
      return `Installing ${subject}`;
    case "loading":
      return "Loading";
    case "hook":
      return `Running hook ${subject}`;
    default:
      return undefined;
  }
}

/** Reads the last line of a server's log. Undefined unless it is migrating. */
export function migrationWords(log: string): string | undefined {
  const last = log.trim().split("\n").at(-1) ?? "";
  const [, next, newest] = /revision=(\d+) of (\d+)/.exec(last) ?? [];
  if (!last.includes(MIGRATING) || next === undefined || newest === undefined) return undefined;
  return `Migrating the database ${barOf(Number(next), Number(newest))} ${next} of ${newest}`;
}
