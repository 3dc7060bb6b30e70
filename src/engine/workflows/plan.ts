import { PdError } from "../../domain/errors.ts";
import type { SavedId } from "../../domain/ids.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import { dataStoresOf } from "../../domain/props/declared-props.ts";
import type { WorkflowBinding } from "../../domain/workflow/binding.ts";
import { type Workflow, everyStep } from "../../domain/workflow/workflow.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { WorkflowStore } from "../../ports/stores/workflow-store.ts";

export interface WorkflowPlan {
  readonly code: SavedComponent;
  readonly workflow: Workflow;
  readonly steps: ReadonlyMap<string, SavedComponent>;
}

type PlanStore = Pick<ComponentStore, "getComponent"> & Pick<WorkflowStore, "stepComponents">;

/** Throws PD_COMPONENT_NOT_FOUND when the code is gone. */
export async function readPlan(store: PlanStore, id: SavedId): Promise<WorkflowPlan> {
  const code = await store.getComponent(id);
  // Loaded late: most servers have no workflow.
  const { readWorkflow } = await import("../../domain/workflow/read-workflow.ts");
  const read = code === undefined ? undefined : readWorkflow(code.code.text, { isDeployed: true });
  if (code === undefined || read?.kind !== "valid") throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run a workflow: its code ${id} is gone`);
  const steps = await store.stepComponents(id);
  return { code, workflow: read.workflow, steps: new Map(steps.map(({ namespace, component }) => [namespace, component])) };
}

/** Data stores that the file names. The value of an expression is known only when the step runs. */
export function dataStoresIn({ workflow, steps }: WorkflowPlan, { stores }: Pick<WorkflowBinding, "stores">): readonly string[] {
  const given = [...everyStep(workflow.steps)].flatMap((step) =>
    step.kind === "code" ? dataStoresOf(steps.get(step.namespace)?.definition.props ?? [], step.props) : [],
  );
  return given.map((name) => stores[name] ?? name);
}
