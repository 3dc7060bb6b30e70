import { storeIdOf } from "../../../domain/props/data-store-prop.ts";
import { everyStep } from "../../../domain/workflow/workflow.ts";
import { WORKFLOW_FILE } from "./build-workflow.ts";
import type { WorkflowPlan } from "../plan.ts";

interface BoundStores {
  readonly stores: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

interface NamedStore {
  readonly id: string;
  readonly steps: readonly string[];
}

/** `given`: id in the file → name here. Other ids become the name. */
export function bindStores(plan: WorkflowPlan, { given, known }: { given: Readonly<Record<string, string>>; known: readonly string[] }): BoundStores {
  const stores: Record<string, string> = { ...given };
  const warnings: string[] = [];
  for (const { id, steps } of storesIn(plan)) {
    if (stores[id] !== undefined) continue;
    stores[id] = id;
    if (!known.includes(id))
      warnings.push(
        `${WORKFLOW_FILE}: data store ${id} does not exist here: ${steps.join(", ")} get a new one with this name. --map ${id}=<name> uses another one`,
      );
  }
  return { stores, warnings };
}

export function storesIn({ workflow, steps }: WorkflowPlan): readonly NamedStore[] {
  const found = new Map<string, NamedStore>();
  for (const step of everyStep(workflow.steps)) {
    if (step.kind !== "code") continue;
    for (const { kind, name } of steps.get(step.namespace)?.definition.props ?? []) {
      const id = kind === "data-store" ? storeIdOf(step.props[name]) : undefined;
      if (id !== undefined) found.set(id, { id, steps: [...(found.get(id)?.steps ?? []), step.namespace] });
    }
  }
  return [...found.values()];
}
