import { storeIdOf } from "../../domain/props/data-store-prop.ts";
import { everyStep } from "../../domain/workflow/workflow.ts";
import { WORKFLOW_FILE } from "./build-workflow.ts";
import type { WorkflowPlan } from "./plan.ts";

interface BoundStores {
  /** Id in the file → name of a data store of this server. */
  readonly stores: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** A data store that a workflow's file names by an id of elsewhere. */
interface NamedStore {
  readonly id: string;
  readonly steps: readonly string[];
}

/** Finds for each id a data store; one that nobody has named is called as its id. `given`: id in the file → name here. */
export function bindStores(plan: WorkflowPlan, { given, known }: { given: Readonly<Record<string, string>>; known: readonly string[] }): BoundStores {
  const stores: Record<string, string> = { ...given };
  const warnings: string[] = [];
  for (const { id, steps } of storesIn(plan)) {
    if (stores[id] !== undefined) continue;
    stores[id] = id;
    if (!known.includes(id))
      warnings.push(
        `${WORKFLOW_FILE}: ${id} is no data store here: ${steps.join(", ")} get a new one that has this name; --map ${id}=<name> takes another one`,
      );
  }
  return { stores, warnings };
}

/** The data stores that a file names by ids, each once. */
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
