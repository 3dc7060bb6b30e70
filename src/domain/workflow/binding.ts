import { type ProcessGrant, granted } from "../process-grant.ts";
import { type JsonObject, isJsonObject } from "../json.ts";

/** What stands for the ids that a workflow's file brings from elsewhere, and what its triggers are here. */
export interface WorkflowBinding {
  /** By their place in the file: who emits what begins runs. Absent: nothing does yet. */
  readonly triggers: readonly (string | undefined)[];
  /** Id in the file → account of this server. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Id in the file → source or workflow of this server. */
  readonly sources: Readonly<Record<string, string>>;
  /** Id in the file → name of a data store of this server. */
  readonly stores: Readonly<Record<string, string>>;
  /** Id in the file → schedule, as a timer is given, that the file does not tell. */
  readonly schedules: Readonly<Record<string, JsonObject>>;
  readonly limits: WorkflowLimits;
  /** While a change goes on: who may be heard by then, before it or after it. Whoever finds it cut off tidies up. */
  readonly touched: readonly Heard[];
  /** What was taken in the place of something else, and what is not there yet. */
  readonly warnings: readonly string[];
}

/** What its steps may take. Whoever deploys it says so, and the file does not. */
export interface WorkflowLimits extends Pick<ProcessGrant, "allowsAddons" | "memoryMb"> {
  /** For one call of a step. Absent: as the file says. */
  readonly timeoutSeconds?: number | undefined;
}

/** Who is listened to. */
export interface Heard {
  readonly emitterId: string;
  readonly channel: string;
}

/** As a deployed component keeps it. */
export function bindingValue({ triggers, accounts, sources, stores, schedules, limits, warnings, touched }: WorkflowBinding): JsonObject {
  return {
    triggers: triggers.map((id) => id ?? null),
    accounts: { ...accounts },
    sources: { ...sources },
    stores: { ...stores },
    schedules: { ...schedules },
    limits: limitsValue(limits),
    warnings: [...warnings],
    touched: touched.map((one) => ({ ...one })),
  };
}

export function bindingOf({ triggers, accounts, sources, stores, schedules, limits, warnings, touched }: JsonObject): WorkflowBinding {
  return {
    triggers: Array.isArray(triggers) ? triggers.map((id) => (typeof id === "string" ? id : undefined)) : [],
    accounts: textsOf(accounts),
    touched: (Array.isArray(touched) ? touched : []).flatMap((one) =>
      isJsonObject(one) ? [{ emitterId: String(one["emitterId"]), channel: String(one["channel"]) }] : [],
    ),
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    limits: isJsonObject(limits) ? limitsOf(limits) : {},
    sources: textsOf(sources),
    stores: textsOf(stores),
    schedules: Object.fromEntries(
      Object.entries(isJsonObject(schedules) ? schedules : {}).flatMap(([id, given]) => (isJsonObject(given) ? [[id, given]] : [])),
    ),
  };
}

function limitsValue({ timeoutSeconds, ...grant }: WorkflowLimits): JsonObject {
  return { ...granted(grant), ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
}

function limitsOf({ allowsAddons, memoryMb, timeoutSeconds }: JsonObject): WorkflowLimits {
  return {
    ...granted({ allowsAddons: allowsAddons === true, memoryMb: typeof memoryMb === "number" ? memoryMb : undefined }),
    ...(typeof timeoutSeconds === "number" ? { timeoutSeconds } : {}),
  };
}

function textsOf(given: unknown): Record<string, string> {
  const entries = Object.entries(isJsonObject(given) ? given : {});
  return Object.fromEntries(entries.flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : [])));
}
