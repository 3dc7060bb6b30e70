import { type ProcessGrant, granted } from "../source/process-grant.ts";
import { type JsonObject, isJsonObject } from "../text/json.ts";

export interface WorkflowBinding {
  /** Ids of the emitters, in the order of the file's triggers. Undefined without an emitter. */
  readonly triggers: readonly (string | undefined)[];
  /** Id in the file → account. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Id in the file → source or workflow. */
  readonly sources: Readonly<Record<string, string>>;
  /** Id in the file → name of a data store. */
  readonly stores: Readonly<Record<string, string>>;
  /** Id in the file → schedule, when the file does not contain it. */
  readonly schedules: Readonly<Record<string, JsonObject>>;
  readonly limits: WorkflowLimits;
  /** Emitters before and after a change in progress. If it is cut off, the next start corrects their subscriptions. */
  readonly touched: readonly Heard[];
  readonly warnings: readonly string[];
}

/** Set by the deployer and not by the file. */
export interface WorkflowLimits extends Pick<ProcessGrant, "allowsAddons" | "memoryMb"> {
  /** Per call. Omitted when the file's setting applies. */
  readonly timeoutSeconds?: number | undefined;
}

export interface Heard {
  readonly emitterId: string;
  readonly channel: string;
}

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
