import type { RehearsalRecord } from "../../../api/invocations.ts";
import type { Event } from "../../../domain/event/event.ts";
import { type Invocation, describeOutcome } from "../../../domain/run/invocation.ts";
import { isSameJson, parseJson } from "../../../domain/text/json.ts";
import type { Rehearsal, RehearsedEmit } from "../../../engine/runs/history/rehearse.ts";
import { lineRecord } from "../records.ts";

interface Rehearsed {
  readonly before: Invocation;
  readonly events: readonly Event[];
  readonly after: Rehearsal;
}

export function rehearsalRecord({ before, events, after }: Rehearsed): RehearsalRecord {
  const { outcome, returned } = after.result;
  const answer = after.response;
  return {
    before: {
      outcome: before.outcome.kind,
      message: describeOutcome(before.outcome),
      version: before.version,
      events: events.map(({ channel, dedupeId, summary, payload }) => ({ name: channel, id: dedupeId, summary, event: parseJson(payload) ?? null })),
      dropped: { ...before.dropped },
      status: before.responseStatus,
    },
    after: {
      outcome: outcome.kind,
      message: describeOutcome(outcome),
      version: after.version,
      error: outcome.kind === "threw" ? { ...outcome.error } : undefined,
      duration_ms: after.durationMs,
      events: after.emits.map(emitRecord),
      status: answer === undefined ? undefined : "problem" in answer ? 500 : answer.status,
      body: answer === undefined ? undefined : "problem" in answer ? answer.problem : answer.body,
      returned: returned === undefined ? undefined : parseJson(returned),
      logs: after.logs.map(lineRecord),
    },
    state: stateChanges(after),
  };
}

function emitRecord({ emit: { name = "", id, summary, payload }, dropped }: RehearsedEmit): RehearsalRecord["after"]["events"][number] {
  return { name, id: id === undefined ? undefined : String(id), summary, event: parseJson(payload) ?? null, dropped };
}

function stateChanges({ state, stateChanges: changes }: Rehearsal): RehearsalRecord["state"] {
  return Object.entries(changes).flatMap(([key, text]) => {
    const [old, next] = [Object.hasOwn(state, key) ? parseJson(state[key] ?? "") : undefined, text === null ? undefined : parseJson(text)];
    return isSameJson(old, next) ? [] : [{ key, before: old, after: next }];
  });
}
