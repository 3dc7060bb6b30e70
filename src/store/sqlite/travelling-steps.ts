/** How runs of workflows and their steps travel to where they are written: as what their columns hold, as in travelling.ts. */
import type { Bound } from "../../database/driver.ts";
import type { RunId, WorkflowId } from "../../domain/ids.ts";
import type { StepRecord, WorkflowRun } from "../../domain/workflow/run.ts";
import type { StepCommit } from "../../ports/workflow-store.ts";

/** A step as it is noted. */
export interface TravellingRecord {
  readonly path: string;
  readonly state: StepRecord["state"];
  /** Of what waits: epoch ms. */
  readonly until: number | null;
  readonly token: string | null;
  /** All of it, as JSON text. */
  readonly record: string;
}

export interface TravellingStep {
  readonly runId: RunId;
  /** What it has made of its run, as UPDATE_RUN wants it. */
  readonly run: readonly Bound[];
  readonly record: TravellingRecord;
  readonly recording: string | undefined;
}

/** A run that begins. */
export interface TravellingBegin {
  readonly id: RunId;
  readonly workflowId: WorkflowId;
  readonly messageId: string | null;
  /** Columns of the run, as INSERT_RUN wants them. */
  readonly run: readonly Bound[];
  readonly records: readonly TravellingRecord[];
}

export function travellingRecord(record: StepRecord): TravellingRecord {
  const { path, state, pause } = record;
  const isWaiting = state === "waiting" && pause !== undefined;
  return { path, state, until: isWaiting ? pause.until : null, token: isWaiting ? pause.token : null, record: JSON.stringify(record) };
}

export function travellingStep({ run, record, recording }: StepCommit): TravellingStep {
  return { runId: run.id, run: changeOf(run), record: travellingRecord(record), recording };
}

export function travellingBegin(run: WorkflowRun, records: readonly StepRecord[]): TravellingBegin {
  const { id, workflowId, version, trigger, state, startedAt, endedAt, failure, reason, rerunOf, from } = run;
  const { messageId = null } = trigger;
  const failureText = failure === undefined ? null : JSON.stringify(failure);
  const begun = [id, workflowId, version, JSON.stringify(trigger), messageId, state, startedAt];
  return {
    id,
    workflowId,
    messageId,
    run: [...begun, endedAt ?? null, failureText, reason ?? null, rerunOf ?? null, from ?? null],
    records: records.map(travellingRecord),
  };
}

/** What a run has come to without a step. */
export type TravellingChange = Pick<TravellingBegin, "id" | "workflowId" | "run">;

export function travellingChange(run: WorkflowRun): TravellingChange {
  return { id: run.id, workflowId: run.workflowId, run: changeOf(run) };
}

/** What a run has become, as UPDATE_RUN wants it. */
function changeOf({ state, endedAt, failure, reason, id, wakes }: WorkflowRun): readonly Bound[] {
  return [state, wakes, state, endedAt ?? null, failure === undefined ? null : JSON.stringify(failure), reason ?? null, id];
}
