import { isJsonObject } from "../../domain/text/json.ts";
import type { RunStep, WorkflowRun, WorkflowStep } from "../types.ts";

const MOST_MEMBERS = 20;

/** Expressions that a step can read: those of the trigger and of the steps before it, with what the last run left there. */
export function referencesOf(
  steps: readonly WorkflowStep[],
  namespace: string,
  last: { readonly run: WorkflowRun | undefined; readonly records: readonly RunStep[] } | undefined,
): readonly string[] {
  const before = namesBefore(steps, namespace) ?? [];
  const event = last?.run?.trigger.event;
  const { body } = isJsonObject(event) ? event : {};
  const ofTrigger = ["steps.trigger.event", ...membersOf("steps.trigger.event", event), ...membersOf("steps.trigger.event.body", body)];
  return [...expressionsOf(ofTrigger), ...before.flatMap((name) => referencesTo(name, last?.records))];
}

/** Expressions that read one step. */
export function referencesTo(namespace: string, records: readonly RunStep[] = []): readonly string[] {
  const exports = records.findLast((record) => record.namespace === namespace)?.exports;
  const path = `steps.${namespace}.$return_value`;
  return expressionsOf([path, ...membersOf(path, exports?.["$return_value"]), ...membersOf(`steps.${namespace}`, exports)]);
}

function expressionsOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].map((path) => `{{${path}}}`);
}

/** Undefined when the step is not in the list. */
function namesBefore(steps: readonly WorkflowStep[], namespace: string): readonly string[] | undefined {
  const before: string[] = [];
  for (const step of steps) {
    if (step.namespace === namespace) return before;
    for (const branch of step.branches ?? []) {
      const inside = namesBefore(branch.steps, namespace);
      if (inside !== undefined) return [...before, ...(step.kind === "for_each" ? [step.namespace] : []), ...inside];
    }
    before.push(step.namespace);
  }
  return undefined;
}

function membersOf(path: string, value: unknown): readonly string[] {
  if (!isPlain(value)) return [];
  return Object.keys(value)
    .slice(0, MOST_MEMBERS)
    .map((name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`));
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
