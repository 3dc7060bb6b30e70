import type { DeployedId, InvocationId, RunId, WorkflowId } from "../domain/ids.ts";

/** `scope` is the id of a source or workflow. */
export interface Meter {
  ran(run: MeteredRun): void;
  workflowRan(run: MeteredWorkflowRun): void;
  /** `scope` is the emitter. */
  attempted(attempt: { readonly scope: string; readonly verdict: string; readonly durationMs: number }): void;
}

/** Tells each of them. */
export function allMeters(meters: readonly Meter[]): Meter {
  return {
    ran(run) {
      for (const meter of meters) meter.ran(run);
    },
    workflowRan(run) {
      for (const meter of meters) meter.workflowRan(run);
    },
    attempted(attempt) {
      for (const meter of meters) meter.attempted(attempt);
    },
  };
}

interface MeteredWorkflowRun {
  readonly scope: WorkflowId;
  readonly id: RunId;
  readonly state: "succeeded" | "failed" | "cancelled";
  readonly durationMs: number;
}

interface MeteredRun {
  readonly scope: DeployedId;
  readonly id: InvocationId;
  readonly trigger: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly events: number;
  readonly dropped: number;
}
