import type { RunId, WorkflowId } from "../../domain/ids.ts";
import type { StepRecord, WorkflowRun } from "../../domain/workflow/run.ts";
import type { StepCommit } from "../../ports/stores/workflow-store.ts";

type Column = string | number | null;

export interface RecordMessage {
  readonly path: string;
  readonly state: StepRecord["state"];
  /** Epoch ms. Null unless waiting. */
  readonly until: number | null;
  readonly token: string | null;
  /** JSON text. */
  readonly record: string;
}

export interface StepMessage {
  readonly runId: RunId;
  /** Parameters of UPDATE_RUN. */
  readonly run: readonly Column[];
  readonly record: RecordMessage;
  readonly recording: string | undefined;
}

export interface BeginMessage {
  readonly id: RunId;
  readonly workflowId: WorkflowId;
  readonly messageId: string | null;
  /** Parameters of INSERT_RUN. */
  readonly run: readonly Column[];
  readonly records: readonly RecordMessage[];
}

export function recordMessage(record: StepRecord): RecordMessage {
  const { path, state, pause } = record;
  const isWaiting = state === "waiting" && pause !== undefined;
  return { path, state, until: isWaiting ? pause.until : null, token: isWaiting ? pause.token : null, record: JSON.stringify(record) };
}

export function stepMessage({ run, record, recording }: StepCommit): StepMessage {
  return { runId: run.id, run: changeOf(run), record: recordMessage(record), recording };
}

export function beginMessage(run: WorkflowRun, records: readonly StepRecord[]): BeginMessage {
  const { id, workflowId, version, trigger, state, startedAt, endedAt, failure, reason, rerunOf, from } = run;
  const { messageId = null } = trigger;
  const failureText = failure === undefined ? null : JSON.stringify(failure);
  const begun = [id, workflowId, version, JSON.stringify(trigger), messageId, state, startedAt];
  return {
    id,
    workflowId,
    messageId,
    run: [...begun, endedAt ?? null, failureText, reason ?? null, rerunOf ?? null, from ?? null],
    records: records.map(recordMessage),
  };
}

export type RunChangeMessage = Pick<BeginMessage, "id" | "workflowId" | "run">;

export function runChangeMessage(run: WorkflowRun): RunChangeMessage {
  return { id: run.id, workflowId: run.workflowId, run: changeOf(run) };
}

/** Parameters of UPDATE_RUN. */
function changeOf({ state, endedAt, failure, reason, id, wakes }: WorkflowRun): readonly Column[] {
  return [state, wakes, state, endedAt ?? null, failure === undefined ? null : JSON.stringify(failure), reason ?? null, id];
}
