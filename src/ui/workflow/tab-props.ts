import type { Workflow } from "../types.ts";

/** What every tab of a workflow is given. */
export interface WorkflowTabProps {
  readonly workflow: Workflow;
  readonly reload: () => void;
}
