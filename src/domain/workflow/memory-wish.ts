import type { Workflow } from "./workflow.ts";

/** `memoryMb` is what the steps get. */
export function memoryNotes({ settings: { memory } }: Workflow, memoryMb: number): readonly string[] {
  if (memory === undefined || memory <= memoryMb) return [];
  return [`settings.lambda_memory requests ${memory} MB, but its steps have ${memoryMb} MB here: pd update <workflow> --memory ${memory}`];
}
