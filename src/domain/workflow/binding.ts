import { type JsonObject, isJsonObject } from "../json.ts";

/** What stands for the ids that a workflow's file brings from elsewhere, and what its triggers are here. */
export interface WorkflowBinding {
  /** By their place in the file: who emits what begins runs. Absent: nothing does yet. */
  readonly triggers: readonly (string | undefined)[];
  /** Id in the file → account of this server. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Id in the file → source or workflow of this server. */
  readonly sources: Readonly<Record<string, string>>;
  /** Id in the file → schedule, as a timer is given, that the file does not tell. */
  readonly schedules: Readonly<Record<string, JsonObject>>;
  /** What was taken in the place of something else, and what is not there yet. */
  readonly warnings: readonly string[];
}

/** As a deployed component keeps it. */
export function bindingValue({ triggers, accounts, sources, schedules, warnings }: WorkflowBinding): JsonObject {
  return {
    triggers: triggers.map((id) => id ?? null),
    accounts: { ...accounts },
    sources: { ...sources },
    schedules: { ...schedules },
    warnings: [...warnings],
  };
}

export function bindingOf({ triggers, accounts, sources, schedules, warnings }: JsonObject): WorkflowBinding {
  return {
    triggers: Array.isArray(triggers) ? triggers.map((id) => (typeof id === "string" ? id : undefined)) : [],
    accounts: textsOf(accounts),
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    sources: textsOf(sources),
    schedules: Object.fromEntries(
      Object.entries(isJsonObject(schedules) ? schedules : {}).flatMap(([id, given]) => (isJsonObject(given) ? [[id, given]] : [])),
    ),
  };
}

function textsOf(given: unknown): Record<string, string> {
  const entries = Object.entries(isJsonObject(given) ? given : {});
  return Object.fromEntries(entries.flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : [])));
}
