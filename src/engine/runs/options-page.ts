import { PdError } from "../../domain/errors.ts";
import { type RunResult, outcomeDetails, reasonOf } from "../../domain/invocation.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";
import { type PropOption, readOptions } from "../../domain/props/user-prop.ts";

export interface OptionsPage {
  readonly options: readonly PropOption[];
  /** To be handed back as `prevContext` for the next page, whole. */
  readonly context?: JsonObject;
}

/** One page of a prop's choices. Throws PD_OPTIONS_FAILED when the component has no such options method, or when it throws. */
export function optionsOf(prop: string, { outcome, returned }: RunResult): OptionsPage {
  if (outcome.kind !== "returned")
    throw new PdError("PD_OPTIONS_FAILED", `Cannot list the options of ${prop}: ${reasonOf(outcome)}`, { details: outcomeDetails(outcome) });
  const value = parseJson(returned ?? "null");
  if (!isJsonObject(value)) return { options: readOptions(value) ?? [] };
  const context = value["context"];
  return { options: readOptions(value["options"]) ?? [], ...(isJsonObject(context) ? { context } : {}) };
}
