import { PdError } from "../../domain/errors.ts";
import type { SavedId } from "../../domain/ids.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import { accountIdOf } from "../../domain/props/app-prop.ts";
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

export interface NamedAccount {
  readonly id: string;
  readonly app: string;
  readonly steps: readonly string[];
}

type PlanStore = Pick<ComponentStore, "getComponent"> & Pick<WorkflowStore, "stepComponents">;

/** Throws PD_COMPONENT_NOT_FOUND when the code is gone. */
export async function readPlan(store: PlanStore, id: SavedId): Promise<WorkflowPlan> {
  const code = await store.getComponent(id);
  // Most servers have no workflow.
  const { readWorkflow } = await import("../../domain/workflow/read-workflow.ts");
  const read = code === undefined ? undefined : readWorkflow(code.code.text, { isDeployed: true });
  if (code === undefined || read?.kind !== "valid") throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run a workflow: its code ${id} is gone`);
  const steps = await store.stepComponents(id);
  return { code, workflow: read.workflow, steps: new Map(steps.map(({ namespace, component }) => [namespace, component])) };
}

/** Named in the file. The value of an expression is known only when the step runs. */
export function dataStoresIn({ workflow, steps }: WorkflowPlan, { stores }: Pick<WorkflowBinding, "stores">): readonly string[] {
  const given = [...everyStep(workflow.steps)].flatMap((step) =>
    step.kind === "code" ? dataStoresOf(steps.get(step.namespace)?.definition.props ?? [], step.props) : [],
  );
  return given.map((name) => stores[name] ?? name);
}

export function accountsIn({ workflow, steps }: WorkflowPlan): readonly NamedAccount[] {
  const found = new Map<string, NamedAccount>();
  for (const step of everyStep(workflow.steps)) {
    if (step.kind !== "code") continue;
    for (const prop of steps.get(step.namespace)?.definition.props ?? []) {
      const id = prop.kind === "app" ? accountIdOf(step.props[prop.name]) : undefined;
      if (prop.kind !== "app" || id === undefined) continue;
      found.set(id, { id, app: prop.app, steps: [...(found.get(id)?.steps ?? []), step.namespace] });
    }
  }
  return [...found.values()];
}
