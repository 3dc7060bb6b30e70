import { type Invocation, type LogLine, describeOutcome, isFailed } from "../run/invocation.ts";
import { type JsonObject, type JsonValue, parseJson } from "../text/json.ts";
import { type WorkflowRun, originOf } from "../workflow/run.ts";
import { type Trigger, timerEvent } from "../run/trigger.ts";

export function isFailure({ trigger, outcome }: Pick<Invocation, "trigger" | "outcome">): boolean {
  return isFailed(outcome) && !(trigger.kind === "step" && trigger.isRetried === true);
}

export function errorMessage({ id, sourceId, trigger, startedAt, outcome }: Invocation, run?: WorkflowRun): JsonObject | undefined {
  if (!isFailure({ trigger, outcome })) return undefined;
  const thrown = outcome.kind === "threw" ? { code: outcome.error.name, msg: outcome.error.message, stack: outcome.error.stack } : { code: outcome.kind };
  const ts = new Date(startedAt).toISOString();
  const origin = run === undefined ? { source_id: sourceId, source_type: "source" } : { workflow_id: sourceId, run_id: run.id, ...originOf(run) };
  const step = trigger.kind === "step" ? { cellId: trigger.namespace, namespace: trigger.namespace } : {};
  const cell = trigger.kind === "step" ? { cellId: trigger.namespace } : {};
  return {
    original_event: run === undefined ? originalEvent(trigger) : run.trigger.event,
    original_context: { id, ts, ...origin, ...step },
    error: { msg: describeOutcome(outcome), ...thrown, ...cell, ts },
  };
}

/** Approximates the argument of `run`: bodies that are not JSON stay text. */
function originalEvent(trigger: Trigger): JsonValue {
  switch (trigger.kind) {
    case "http": {
      const { method, path, url, query, headers, clientIp, body, encoding } = trigger;
      const parsed = encoding === "utf8" ? parseJson(body) : undefined;
      const fields = Object.fromEntries(new URLSearchParams(query));
      return { method, path, url, query: fields, headers: { ...headers }, client_ip: clientIp, bodyRaw: body, body: parsed ?? body };
    }
    case "timer":
      return timerEvent(trigger);
    case "manual":
    case "event":
      return trigger.event;
    case "hook":
      return { hook: trigger.hook };
    case "sample":
    case "step":
      return {};
  }
}

export function logMessage({ at, level, text, from }: LogLine, invocationId: string): JsonObject {
  const place = from === undefined ? {} : { from };
  return { k: level === "error" || level === "system" ? level : `console.${level}`, msg: text, ts: at, invocation_id: invocationId, ...place };
}
