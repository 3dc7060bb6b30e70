import type { Workflow } from "./workflow.ts";

/** What a user is told when the file asks for more memory (`settings.lambda_memory`) than the steps have, in MB. */
export function memoryNotes({ settings: { memory } }: Workflow, memoryMb: number): readonly string[] {
  if (memory === undefined || memory <= memoryMb) return [];
  return [`settings.lambda_memory asks for ${memory} MB, and its steps have ${memoryMb} MB here: pd update <workflow> --memory ${memory} gives as much`];
}
