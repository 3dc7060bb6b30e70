import type { RehearsalRecord } from "../api/invocations.ts";
import { type JsonValue, isSameJson } from "../domain/json.ts";

const MOST_KEYS = 3;
const MOST_TEXT = 40;

/** One sentence that tells what today's code would do otherwise. */
export function sentenceOf({ before, after, state }: RehearsalRecord): string {
  const [then, now] = [before.events, after.events];
  // What dedupe dropped then was emitted as well, and what it said is not kept.
  const dropped = Object.values(before.dropped).reduce((sum, count) => sum + count, 0);
  const emitted = then.length + dropped;
  const isSame = dropped > 0 || then.every(({ event }, index) => isSameJson(event, now[index]?.event));
  const events =
    emitted === now.length
      ? isSame
        ? dropped > 0
          ? `as many events, ${now.length}`
          : `the same ${counted(now.length)}`
        : `other ${counted(now.length)}`
      : `${counted(now.length)} instead of ${emitted}`;
  const outcome = before.outcome === after.outcome ? [] : [after.outcome === "returned" ? "it does not fail any more" : `it fails: ${after.message}`];
  const changed = state.slice(0, MOST_KEYS).map(({ key, before: old, after: next }) => `state ${key} ${shortOf(old)} → ${shortOf(next)}`);
  const answer = before.status === after.status ? "answer unchanged" : `answer ${after.status ?? "none"} instead of ${before.status ?? "none"}`;
  return [...outcome, events, ...(changed.length === 0 ? ["state unchanged"] : changed), answer].join("; ");
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "event" : "events"}`;
}

function shortOf(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, MOST_TEXT);
}
