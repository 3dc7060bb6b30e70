import type { StoredSource } from "../domain/deployed-component.ts";
import type { DeployedId, RunId, SavedId, WorkflowId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { SavedComponent } from "../domain/saved-component.ts";
import type { RunState, StepRecord, WorkflowRun } from "../domain/workflow/run.ts";

/** What a step of a workflow's code runs on. */
export interface StepComponent {
  readonly namespace: string;
  readonly component: SavedComponent;
}

/** What a step did to its run; written in the transaction of its call. */
export interface StepCommit {
  /** As it is from now on. One that has ended meanwhile stays ended, and the step is noted all the same. */
  readonly run: WorkflowRun;
  readonly record: StepRecord;
  /** What third parties answered, as JSON text; absent: that is not recorded. */
  readonly recording?: string;
}

export interface RunPage {
  readonly limit: number;
  /** Only older ones than this. */
  readonly before?: RunId;
  /** Any of these; absent: all. */
  readonly states?: readonly RunState[];
  /** Only those that began then or later, epoch ms. */
  readonly since?: number;
  /** Only those that no other run repeats. */
  readonly isLatest?: true;
}

export interface WaitingStep {
  readonly workflowId: WorkflowId;
  readonly runId: RunId;
  readonly path: string;
}

/** Runs of workflows. A workflow itself is a deployed component whose code is its folder. */
export interface WorkflowStore {
  /** Newest first, without their code. */
  listWorkflows(): Promise<readonly StoredSource[]>;
  /** Of a workflow's code. */
  stepComponents(code: SavedId): Promise<readonly StepComponent[]>;

  /**
   * Writes a run that begins, with what it takes over of another, and settles the delivery that it came as: one message
   * begins one run. Resolves to the run that the message has begun, which may be an earlier one. Throws
   * PD_SOURCE_NOT_FOUND when the workflow is gone.
   */
  beginRun(run: WorkflowRun, records: readonly StepRecord[]): Promise<WorkflowRun>;
  /** Notes that a step which may not run twice is about to run. */
  noteBegun(runId: RunId, record: StepRecord): Promise<void>;
  /**
   * Ends the wait of a step, once: `undefined` when it does not wait any more, or its run has ended. `request`: what has
   * ended it, if not the time.
   */
  endWait(step: Pick<WaitingStep, "runId" | "path">, request?: JsonObject): Promise<StepRecord | undefined>;
  /** What a run has come to without a step: that it waits, or has ended. One that has ended stays as it is. */
  noteRun(run: WorkflowRun): Promise<void>;
  /** False: it has ended already, or is not there. */
  cancelRun(id: RunId, at: number, reason: string): Promise<boolean>;

  getRun(id: RunId): Promise<WorkflowRun | undefined>;
  /** Newest first. */
  listRuns(workflowId: WorkflowId, page: RunPage): Promise<readonly WorkflowRun[]>;
  countRuns(workflowId: WorkflowId): Promise<Readonly<Record<RunState, number>>>;
  /** How many runs of a workflow messages have begun since then, epoch ms. */
  countBegun(workflowId: WorkflowId, since: number): Promise<number>;
  /** In the order in which they were noted last. */
  stepRecords(id: RunId): Promise<readonly StepRecord[]>;
  /** Path of a step → what third parties answered it the last time, as JSON text. */
  recordings(id: RunId): Promise<ReadonlyMap<string, string>>;
  /** Forgets all of them. */
  dropRecordings(): Promise<void>;
  /** Runs that were at work, oldest first. */
  listRunsAtWork(of: readonly DeployedId[]): Promise<readonly WorkflowRun[]>;
  /** The step that waits for this token. */
  findWaiting(token: string): Promise<WaitingStep | undefined>;
  /** When the first wait is over. */
  nextWaitEnd(): Promise<number | undefined>;
  /** Those whose time has come, the longest due first. */
  listWaitsOver(now: number, limit: number): Promise<readonly WaitingStep[]>;
}
