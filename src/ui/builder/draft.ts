import { useEffect } from "preact/hooks";
import type { Files } from "../../domain/workflow/edit-steps.ts";
import { forgetTexts, keepText, keptPlaces, keptText } from "../browser/kept-text.ts";
import type { WorkflowStep } from "../types.ts";

/** The folder with what is typed for the chosen step. Undefined when everything is saved. */
export interface Draft {
  readonly files: Files | undefined;
  readonly set: (files: Files | undefined) => void;
}

export function useDraft({ set }: Draft, files: Files | undefined): void {
  useEffect(() => {
    set(files);
    return () => set(undefined);
  }, [files]);
}

/** Of a step in this tab's storage. */
export function placeOf(workflowId: string, { namespace }: Pick<WorkflowStep, "namespace">): string {
  return `${workflowId} ${namespace}`;
}

/** Names of the steps with text that is not saved. */
export function unsavedSteps(workflowId: string): ReadonlySet<string> {
  const start = `${workflowId} `;
  return new Set(keptPlaces(start).map((place) => place.slice(start.length)));
}

/** With the steps inside. */
export function forgetDraftsIn(workflowId: string, step: WorkflowStep): void {
  keepText(placeOf(workflowId, step), undefined);
  for (const { steps } of step.branches ?? []) for (const inside of steps) forgetDraftsIn(workflowId, inside);
}

export function forgetDrafts(workflowId: string): void {
  forgetTexts(`${workflowId} `);
}

/** To the place of the step's new name. */
export function moveDraft(workflowId: string, { from, to }: { readonly from: string; readonly to: string }): void {
  const old = placeOf(workflowId, { namespace: from });
  keepText(placeOf(workflowId, { namespace: to }), keptText(old));
  keepText(old, undefined);
}
