import { type Invocation, type LogLine, describeOutcome, isFailed } from "./invocation.ts";
import type { JsonObject } from "./json.ts";

/** A message of `$errors` for a call that failed (platform.md §5); `undefined` when it did not. */
export function errorMessage({ id, sourceId, trigger, startedAt, outcome }: Invocation): JsonObject | undefined {
  if (!isFailed(outcome)) return undefined;
  const thrown = outcome.kind === "threw" ? { code: outcome.error.name, msg: outcome.error.message, stack: outcome.error.stack } : { code: outcome.kind };
  return {
    original_event: JSON.parse(JSON.stringify(trigger)),
    original_context: { id, ts: new Date(startedAt).toISOString(), source_id: sourceId, source_type: "source" },
    error: { msg: describeOutcome(outcome), ...thrown, ts: new Date(startedAt).toISOString() },
  };
}

/** A message of `$logs` for one line, as observations show it (platform.md §5). */
export function logMessage({ at, level, text, from }: LogLine, invocationId: string): JsonObject {
  const place = from === undefined ? {} : { from };
  return { k: level === "error" || level === "system" ? level : `console.${level}`, msg: text, ts: at, invocation_id: invocationId, ...place };
}
