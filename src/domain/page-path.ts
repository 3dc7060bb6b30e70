import { isRunId, isWorkflowId } from "./ids.ts";

/** Path of a source or workflow on the page. */
export function pathOf(id: string): string {
  return isWorkflowId(id) ? `/workflows/${id}` : `/sources/${id}`;
}

/** Calls of a workflow's trigger are not on its page. */
export function pathOfRun(id: string, run: string): string {
  return isWorkflowId(id) && !isRunId(run) ? pathOf(id) : `${pathOf(id)}/runs?run=${run}`;
}
