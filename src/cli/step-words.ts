import type { JsonObject } from "../domain/json.ts";
import { cut } from "./terminal-text.ts";

/** Shorter waits need no number. */
const SHOWN_FROM_MS = 1000;
/** Longer ones would not fit beside it. */
const MOST_SUBJECT = 60;

/** `Installing axios@1.7 … 3 s`, of what a server tells of its progress; `undefined`: it tells nothing. */
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
