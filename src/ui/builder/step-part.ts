import type { Place } from "../../domain/workflow/edit-steps.ts";
import type { WorkflowStep } from "../types.ts";
import type { Draft } from "./draft.ts";
import type { Folder } from "./use-folder.ts";

export interface StepPartProps {
  readonly step: WorkflowStep;
  readonly folder: Folder;
  readonly draft: Draft;
  readonly references: readonly string[];
}

export interface Adding {
  readonly onAdd: (place: Place) => void;
}
