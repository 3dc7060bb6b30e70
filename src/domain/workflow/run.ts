import type { DeployedId, InvocationId, RunId, WorkflowId } from "../ids.ts";
import type { Outcome } from "../invocation.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { StepResult } from "./advance.ts";

/** `waiting`: no step can begin before a time comes, or somebody asks for it. */
export type RunState = "running" | "waiting" | "succeeded" | "failed" | "cancelled";

/** What began a run. */
export interface RunTrigger {
  readonly kind: "http" | "schedule" | "event" | "manual";
  /** `steps.trigger.event` */
  readonly event: JsonValue;
  readonly emitterId?: DeployedId;
  readonly channel?: string;
  /** Of the delivery that it came as: one message begins one run. */
  readonly messageId?: string;
}

/** Why a run ended as it did. */
export interface RunFailure {
  readonly namespace: string;
  readonly path: string;
  readonly message: string;
}

/** One run of a workflow. */
export interface WorkflowRun {
  readonly id: RunId;
  readonly workflowId: WorkflowId;
  /** Of the workflow: its steps run on this code to the end. */
  readonly version: number;
  readonly trigger: RunTrigger;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly failure?: RunFailure;
  /** What a step said when it ended the run, or who cancelled it. */
  readonly reason?: string;
  /** The run that it repeats, with what its steps before `from` have left. */
  readonly rerunOf?: RunId;
  readonly from?: string;
  /** How many waits of its steps are over: whoever says that it waits has to know of each. */
  readonly wakes: number;
}

export type PauseKind =
  /** The step has ended, and what comes next waits (`$.flow.delay`, `$.flow.suspend`). */
  | "delay"
  | "suspend"
  /** The step runs again: because it wished so (`$.flow.rerun`), or because it has failed. */
  | "rerun"
  | "retry";

/** Why a step waits, and for what. */
export interface Pause {
  readonly kind: PauseKind;
  /** Epoch ms. */
  readonly until: number;
  /** Whoever has it may end the wait, or the run. */
  readonly token: string;
  /** What `$.flow.rerun` hands to the next time. */
  readonly context?: JsonValue;
}

/**
 * `begun`: it may have been cut off, and may not run twice. `again`: its wait is over and it runs once more. `done`: what
 * it has left stands.
 */
export type StepState = "begun" | "waiting" | "again" | "done" | "failed";

/** What is kept of a step of a run: as it was the last time. */
export interface StepRecord {
  readonly path: string;
  readonly namespace: string;
  readonly state: StepState;
  /** From 1; counts on when it failed and is tried again. */
  readonly attempt: number;
  /** From 1; counts on when it wished to run again (`$.flow.rerun`). */
  readonly runs: number;
  readonly exports: JsonObject;
  readonly decision?: JsonValue;
  readonly isExit?: true;
  readonly pause?: Pause;
  /** Nobody has ended its wait in time, which cancels the run. */
  readonly isExpired?: true;
  /** The request that ended its wait early. */
  readonly resumedBy?: JsonObject;
  /** Values of its props, without secrets. */
  readonly inputs?: JsonObject;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Where its log and its events are. Absent: it has none. */
  readonly invocationId?: InvocationId;
  /** What left with `$.send`, and what came of it. */
  readonly sends?: readonly JsonValue[];
  /** It was not run: an earlier run has left it. */
  readonly copiedFrom?: RunId;
}

const ENDED: ReadonlySet<RunState> = new Set(["succeeded", "failed", "cancelled"]);

export function hasEnded({ state }: Pick<WorkflowRun, "state">): boolean {
  return ENDED.has(state);
}

/** What later steps and the rest of the run know of it; `undefined` while it has not ended. */
export function resultOf({ state, exports, decision, isExit, isExpired }: StepRecord): StepResult | undefined {
  if (state !== "done" || isExpired === true) return undefined;
  return { exports, ...(decision === undefined ? {} : { decision }), ...(isExit === undefined ? {} : { isExit }) };
}

/** The record once its wait is over; `request`: what has ended it, if not the time. */
export function afterWait(record: StepRecord, request?: JsonObject): StepRecord {
  const resumedBy = request === undefined ? {} : { resumedBy: request };
  const isOver = record.pause?.kind === "delay" || record.pause?.kind === "suspend";
  if (!isOver) return { ...record, state: "again", ...resumedBy };
  // As the hosted platform documents it: whoever was to agree has not.
  if (request === undefined && record.pause?.kind === "suspend") return { ...record, state: "done", isExpired: true };
  // What the step before the wait has left is where the step after it looks (workflows.md §2).
  return { ...record, state: "done", ...resumedBy, exports: request === undefined ? record.exports : { ...record.exports, $resume_data: request } };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Eight more tries over ten hours (workflows.md §2); from then on the last one repeats. */
const PAUSES: readonly number[] = [10 * SECOND, MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 3 * HOUR];
const JITTER = 0.1;

/** When a step that has failed `attempt` times (from 1) is tried again; `undefined`: no more. `random`: from 0 to 1. */
export function retryAt(attempt: number, { retries, now, random }: { retries: number; now: number; random: number }): number | undefined {
  if (attempt > retries) return undefined;
  const pause = PAUSES[Math.min(attempt, PAUSES.length) - 1] ?? HOUR;
  return Math.round(now + pause * (1 + JITTER * (2 * random - 1)));
}

/** The longest that a run waits: a year (workflows.md §2, ours). */
export const LONGEST_WAIT_MS = 366 * 24 * HOUR;
/** As long as the hosted platform waits when no time is given (workflows.md §2). */
export const DEFAULT_SUSPEND_MS = 24 * HOUR;
/** Items of one `for_each`. */
export const MOST_ITEMS = 10_000;

/** The version that a run runs on, as the hosted platform names it. */
export function deploymentIdOf({ workflowId, version }: WorkflowRun): string {
  return `d_${workflowId.slice(2)}${version}`;
}

/** What tells where a run comes from, in `steps.trigger.context` and in `$errors` alike (workflows.md §2, platform.md §5). */
export function originOf(run: WorkflowRun): { deployment_id: string; source_type: string; verified: boolean; platform_version: string } {
  const type = { http: "HTTP", schedule: "TIMER", event: "COMPONENT", manual: "SDK" }[run.trigger.kind];
  return { deployment_id: deploymentIdOf(run), source_type: type, verified: false, platform_version: "3.0.0" };
}
