import type { StoredSource } from "../../domain/source/stored-source.ts";
import type { DeployedId, RunId, SavedId, WorkflowId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { RunState, StepRecord, WorkflowRun } from "../../domain/workflow/run.ts";

export interface StepComponent {
  readonly namespace: string;
  readonly component: SavedComponent;
}

/** Written in the transaction of the step's call. */
export interface StepCommit {
  /** An ended run stays ended, but the step is recorded. */
  readonly run: WorkflowRun;
  readonly record: StepRecord;
  /** Responses of third parties, as JSON text. */
  readonly recording?: string;
}

export interface RunPage {
  readonly limit: number;
  /** Exclusive. */
  readonly before?: RunId;
  /** Omitted for all. */
  readonly states?: readonly RunState[];
  /** Earliest start, epoch ms. */
  readonly since?: number;
  /** Not repeated by another run. */
  readonly isLatest?: true;
}

export interface WaitingStep {
  readonly workflowId: WorkflowId;
  readonly runId: RunId;
  readonly path: string;
}

/** A workflow is a deployed component whose code is its folder. */
export interface WorkflowStore {
  /** Newest first, without code. */
  listWorkflows(): Promise<readonly StoredSource[]>;
  stepComponents(code: SavedId): Promise<readonly StepComponent[]>;

  /**
   * Copies the records and settles the delivery. A message starts only one run, so an earlier run may be returned.
   * Throws PD_SOURCE_NOT_FOUND when the workflow is gone.
   */
  beginRun(run: WorkflowRun, records: readonly StepRecord[]): Promise<WorkflowRun>;
  /** Stores a step's record outside a commit, for example before a step that must not run twice. */
  noteBegun(runId: RunId, record: StepRecord): Promise<void>;
  /** Undefined when the step no longer waits or its run has ended. */
  endWait(step: Pick<WaitingStep, "runId" | "path">, request?: JsonObject): Promise<StepRecord | undefined>;
  /** An ended run stays unchanged. */
  noteRun(run: WorkflowRun): Promise<void>;
  /** False when it has ended or does not exist. */
  cancelRun(id: RunId, at: number, reason: string): Promise<boolean>;

  getRun(id: RunId): Promise<WorkflowRun | undefined>;
  /** Newest first. */
  listRuns(workflowId: WorkflowId, page: RunPage): Promise<readonly WorkflowRun[]>;
  /** The newest rerun of each, if there is one. */
  listReruns(of: readonly RunId[]): Promise<ReadonlyMap<RunId, Pick<WorkflowRun, "id" | "state">>>;
  countRuns(workflowId: WorkflowId): Promise<Readonly<Record<RunState, number>>>;
  /** Started by messages since then, epoch ms. */
  countBegun(workflowId: WorkflowId, since: number): Promise<number>;
  /** In the order of their last change. */
  stepRecords(id: RunId): Promise<readonly StepRecord[]>;
  /** Step path → latest responses of third parties, as JSON text. */
  recordings(id: RunId): Promise<ReadonlyMap<string, string>>;
  /** Of all runs. */
  dropRecordings(): Promise<void>;
  /** In the state `running`, oldest first. */
  listRunsAtWork(of: readonly DeployedId[]): Promise<readonly WorkflowRun[]>;
  findWaiting(token: string): Promise<WaitingStep | undefined>;
  /** Epoch ms. */
  nextWaitEnd(): Promise<number | undefined>;
  /** Longest due first. */
  listWaitsOver(now: number, limit: number): Promise<readonly WaitingStep[]>;
}
