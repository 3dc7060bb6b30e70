import { isoTime } from "../../../domain/event/event.ts";
import { type Outcome, describeOutcome } from "../../../domain/run/invocation.ts";
import { type JsonObject, isJsonObject } from "../../../domain/text/json.ts";
import { DEFAULT_SUSPEND_MS, LONGEST_WAIT_MS, type Pause, type StepRecord, retryAt } from "../../../domain/workflow/run.ts";
import { reportOf } from "../../workbench/actions.ts";
import type { StepCalled } from "./call-step.ts";

export interface WaitAddresses {
  readonly resume_url: string;
  readonly cancel_url: string;
}

export interface StepTry {
  readonly record: Pick<StepRecord, "path" | "namespace" | "attempt" | "runs" | "startedAt" | "invocationId">;
  readonly token: string;
  readonly addresses: WaitAddresses;
  readonly retries: number;
  readonly now: number;
  readonly random: number;
}

export interface StepEnd {
  readonly record: StepRecord;
  /** Sent when the run has ended. */
  readonly response?: JsonObject;
  readonly reason?: string;
  /** What third parties answered, as JSON text. */
  readonly recording?: string;
}

/** Decides whether a step is done, has failed, is retried or waits. */
export function judgeStep({ result, inputs, isHopeless }: StepCalled, attempted: StepTry): StepEnd {
  const { outcome } = result;
  const { exports, returned, flow, response, sends, exchanges } = reportOf(result);
  const recorded = exchanges === undefined ? {} : { recording: JSON.stringify(exchanges) };
  const rest = { ...attempted.record, outcome, durationMs: attempted.now - attempted.record.startedAt, inputs };
  const given = { ...(isJsonObject(exports) ? exports : {}), ...(returned === undefined ? {} : { $return_value: returned }) };
  const sent = Array.isArray(sends) && sends.length > 0 ? { sends } : {};
  // A response counts even when the step fails afterwards.
  const answer = isJsonObject(response) ? { response } : {};
  if (outcome.kind !== "returned") return { ...recorded, record: { ...rest, ...sent, ...failed(outcome, given, { ...attempted, isHopeless }) }, ...answer };
  const wish = isJsonObject(flow) ? flow : {};
  if (wish["kind"] === "exit") {
    const reason = typeof wish["reason"] === "string" ? { reason: wish["reason"] } : {};
    return { ...recorded, record: { ...rest, ...sent, state: "done", exports: given, isExit: true }, ...answer, ...reason };
  }
  const pause = pauseOf(wish, attempted);
  return { ...recorded, record: { ...rest, ...sent, exports: given, ...(pause === undefined ? { state: "done" } : { state: "waiting", pause }) }, ...answer };
}

function failed(
  outcome: Outcome,
  exports: JsonObject,
  { record, retries, now, random, token, addresses, isHopeless }: StepTry & { readonly isHopeless: true | undefined },
): Pick<StepRecord, "state" | "exports" | "pause"> {
  // As on the hosted platform, not retried: it would happen again.
  const isTooMuch = outcome.kind === "timed-out" || outcome.kind === "out-of-memory";
  const until = isHopeless === true || isTooMuch ? undefined : retryAt(record.attempt, { retries, now, random });
  if (until === undefined) return { state: "failed", exports };
  const error = { message: describeOutcome(outcome), ...(outcome.kind === "threw" ? { name: outcome.error.name, stack: outcome.error.stack } : {}) };
  // Seen by the step when it is retried.
  const $attempt = { error, cancel_url: addresses.cancel_url, rerun_url: addresses.resume_url, resume_ts: isoTime(until) };
  return { state: "waiting", exports: { ...exports, $attempt }, pause: { kind: "retry", until, token } };
}

function pauseOf(flow: JsonObject, { now, token, record: { runs } }: StepTry): Pause | undefined {
  const { kind, ms, context, maxRetries } = flow;
  const until = now + waitOf(ms);
  if (kind === "delay" || kind === "suspend") return { kind, until, token };
  if (kind !== "rerun" || runs > (typeof maxRetries === "number" ? maxRetries : 0)) return undefined;
  return { kind, until, token, ...(context === undefined ? {} : { context }) };
}

/** Uses the hosted platform's default when the delay is missing or not a number. */
function waitOf(ms: unknown): number {
  return typeof ms === "number" && ms >= 0 ? Math.min(Math.ceil(ms), LONGEST_WAIT_MS) : DEFAULT_SUSPEND_MS;
}
