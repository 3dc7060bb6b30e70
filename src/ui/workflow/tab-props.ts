import type { Workflow } from "../types.ts";

export interface WorkflowTabProps {
  readonly workflow: Workflow;
  readonly reload: () => void;
}
