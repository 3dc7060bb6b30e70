import type { RehearsalRecord } from "../api/invocations.ts";
import { type JsonValue, isSameJson } from "../domain/text/json.ts";

const MOST_KEYS = 3;
const MOST_TEXT = 40;

/** How a dry run of the current code differs from the recorded run. */
export function sentenceOf({ before, after, state }: RehearsalRecord): string {
  const [then, now] = [before.events, after.events];
  // Dedupe dropped these after they were emitted.
  const dropped = Object.values(before.dropped).reduce((sum, count) => sum + count, 0);
  const emitted = then.length + dropped;
  const isSame = then.every(({ event }, index) => isSameJson(event, now[index]?.event));
  const events = eventsText({ emitted, dropped, now: now.length, isSame });
  const outcome = before.outcome === after.outcome ? [] : [after.outcome === "returned" ? "no longer fails" : `fails: ${after.message}`];
  const changed = state.slice(0, MOST_KEYS).map(({ key, before: old, after: next }) => `state ${key} ${shortOf(old)} → ${shortOf(next)}`);
  const answer = before.status === after.status ? "answer unchanged" : `answer ${after.status ?? "none"} instead of ${before.status ?? "none"}`;
  return [...outcome, events, ...(changed.length === 0 ? ["state unchanged"] : changed), answer].join("; ");
}

interface Emitted {
  readonly emitted: number;
  readonly dropped: number;
  readonly now: number;
  readonly isSame: boolean;
}

function eventsText({ emitted, dropped, now, isSame }: Emitted): string {
  if (emitted !== now) return `${counted(now)} instead of ${emitted}`;
  if (dropped > 0) return `still ${counted(now)}`;
  return `${isSame ? "the same" : "other"} ${counted(now)}`;
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "event" : "events"}`;
}

function shortOf(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, MOST_TEXT);
}
