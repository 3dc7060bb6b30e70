import { PdError } from "../domain/errors.ts";
import { type OptionsRequest, describeOutcome, outcomeDetails } from "../domain/invocation.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";
import { type PropOption, readOptions } from "../domain/prop.ts";
import type { LiveSource } from "./live-source.ts";

export interface OptionsPage {
  readonly options: readonly PropOption[];
  /** To be handed back as `prevContext` for the next page, whole. */
  readonly context?: JsonObject;
}

/** One page of a prop's choices. Throws PD_BAD_INPUT when the component has no such options method, or when it throws. */
export async function listOptions(live: LiveSource, request: OptionsRequest, given: JsonObject): Promise<OptionsPage> {
  const { outcome, returned } = await live.listOptions(request, given);
  if (outcome.kind !== "returned") {
    throw new PdError("PD_BAD_INPUT", `Cannot list the options of ${request.prop}: ${describeOutcome(outcome)}`, { details: outcomeDetails(outcome) });
  }
  const value = parseJson(returned ?? "null");
  if (!isJsonObject(value)) return { options: readOptions(value) ?? [] };
  const context = value["context"];
  return { options: readOptions(value["options"]) ?? [], ...(isJsonObject(context) ? { context } : {}) };
}
