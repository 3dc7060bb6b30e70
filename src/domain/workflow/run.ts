import type { DeployedId, InvocationId, RunId, WorkflowId } from "../ids.ts";
import type { Outcome } from "../run/invocation.ts";
import type { JsonObject, JsonValue } from "../text/json.ts";
import type { StepResult } from "./advance.ts";

/** `waiting` means that no step can start before a time or a request. */
export type RunState = "running" | "waiting" | "succeeded" | "failed" | "cancelled";

export interface RunTrigger {
  readonly kind: "http" | "schedule" | "event" | "manual";
  /** `steps.trigger.event` */
  readonly event: JsonValue;
  readonly emitterId?: DeployedId;
  readonly channel?: string;
  /** A message starts only one run. */
  readonly messageId?: string;
}

export interface RunFailure {
  readonly namespace: string;
  readonly path: string;
  readonly message: string;
}

export interface WorkflowRun {
  readonly id: RunId;
  readonly workflowId: WorkflowId;
  /** Used by the run to its end. */
  readonly version: number;
  readonly trigger: RunTrigger;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly failure?: RunFailure;
  /** Given by the step that ended the run, or by a cancellation. */
  readonly reason?: string;
  /** The results before `from` are reused. */
  readonly rerunOf?: RunId;
  readonly from?: string;
  /** Number of ended waits. The store replaces `waiting` with `running` when the writer's number is outdated. */
  readonly wakes: number;
}

export type PauseKind =
  /** The next step waits (`$.flow.delay`, `$.flow.suspend`). */
  | "delay"
  | "suspend"
  /** The step runs again (`$.flow.rerun`, or after a failure). */
  | "rerun"
  | "retry";

export interface Pause {
  readonly kind: PauseKind;
  /** Epoch ms. */
  readonly until: number;
  /** Allows ending the wait or the run. */
  readonly token: string;
  /** From `$.flow.rerun`. */
  readonly context?: JsonValue;
}

/**
 * A `begun` step may have been cut off and must not run twice. An `again` step runs once more, after a wait or because
 * it was not called. `done` is final.
 */
export type StepState = "begun" | "waiting" | "again" | "done" | "failed";

/** Latest state of a step in a run. */
export interface StepRecord {
  readonly path: string;
  readonly namespace: string;
  readonly state: StepState;
  /** From 1. Counts retries. */
  readonly attempt: number;
  /** From 1. Counts `$.flow.rerun`. */
  readonly runs: number;
  readonly exports: JsonObject;
  readonly decision?: JsonValue;
  readonly isExit?: true;
  readonly pause?: Pause;
  /** Cancels the run. */
  readonly isExpired?: true;
  readonly resumedBy?: JsonObject;
  /** Prop values without secrets. */
  readonly inputs?: JsonObject;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly invocationId?: InvocationId;
  readonly sends?: readonly JsonValue[];
  readonly copiedFrom?: RunId;
}

const ENDED: ReadonlySet<RunState> = new Set(["succeeded", "failed", "cancelled"]);

export function hasEnded({ state }: Pick<WorkflowRun, "state">): boolean {
  return ENDED.has(state);
}

export function resultOf({ state, exports, decision, isExit, isExpired }: StepRecord): StepResult | undefined {
  if (state !== "done" || isExpired === true) return undefined;
  return { exports, ...(decision === undefined ? {} : { decision }), ...(isExit === undefined ? {} : { isExit }) };
}

/** Undefined when its time came. */
export function afterWait(record: StepRecord, request?: JsonObject): StepRecord {
  const resumedBy = request === undefined ? {} : { resumedBy: request };
  const isOver = record.pause?.kind === "delay" || record.pause?.kind === "suspend";
  if (!isOver) return { ...record, state: "again", ...resumedBy };
  // As on the hosted platform, this cancels the run.
  if (request === undefined && record.pause?.kind === "suspend") return { ...record, state: "done", isExpired: true };
  // Later steps read `$resume_data` from the step before the wait.
  return { ...record, state: "done", ...resumedBy, exports: request === undefined ? record.exports : { ...record.exports, $resume_data: request } };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Eight retries over ten hours. Later retries repeat the last pause. */
const PAUSES: readonly number[] = [10 * SECOND, MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 3 * HOUR];
const JITTER = 0.1;

/** `attempt` counts failures. `random` is from 0 to 1. Undefined when no retry is left. */
export function retryAt(attempt: number, { retries, now, random }: { retries: number; now: number; random: number }): number | undefined {
  if (attempt > retries) return undefined;
  const pause = PAUSES[Math.min(attempt, PAUSES.length) - 1] ?? HOUR;
  return Math.round(now + pause * (1 + JITTER * (2 * random - 1)));
}

/** Chosen. */
export const LONGEST_WAIT_MS = 366 * 24 * HOUR;
/** Default of the hosted platform. */
export const DEFAULT_SUSPEND_MS = 24 * HOUR;
/** Per `for_each`. */
export const MOST_ITEMS = 10_000;

/** The hosted platform's id of a version. */
export function deploymentIdOf({ workflowId, version }: WorkflowRun): string {
  return `d_${workflowId.slice(2)}${version}`;
}

/** Used in `steps.trigger.context` and in `$errors`. */
export function originOf(run: WorkflowRun): { deployment_id: string; source_type: string; verified: boolean; platform_version: string } {
  const type = { http: "HTTP", schedule: "TIMER", event: "COMPONENT", manual: "SDK" }[run.trigger.kind];
  return { deployment_id: deploymentIdOf(run), source_type: type, verified: false, platform_version: "3.0.0" };
}
