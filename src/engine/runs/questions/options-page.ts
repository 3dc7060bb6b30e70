import { PdError } from "../../../domain/errors.ts";
import { type RunResult, outcomeDetails, reasonOf } from "../../../domain/run/invocation.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../../domain/text/json.ts";
import { type ConfiguredProps, withoutValue } from "../../../domain/props/declared-props.ts";
import type { PropDeclaration } from "../../../domain/props/kinds.ts";
import { type PropOption, readOptions } from "../../../domain/props/user-prop.ts";

export interface OptionsPage {
  readonly options: readonly PropOption[];
  /** Pass it as `prevContext` to get the next page. */
  readonly context?: JsonObject;
  /** Other props that had no value. */
  readonly without: readonly string[];
}

interface Asked {
  readonly prop: string;
  readonly declared: readonly PropDeclaration[];
  readonly configured: ConfiguredProps;
}

/** Throws PD_OPTIONS_FAILED when the method is missing or throws. */
export function optionsOf({ prop, declared, configured }: Asked, { outcome, returned }: RunResult): OptionsPage {
  const without = withoutValue(declared, configured).filter((name) => name !== prop);
  const lack = without.length === 0 ? "" : ` (${without.join(", ")} had no value)`;
  if (outcome.kind !== "returned")
    throw new PdError("PD_OPTIONS_FAILED", `Cannot list the options of ${prop}: ${reasonOf(outcome)}${lack}`, {
      details: outcomeDetails(outcome),
      ...(without.length === 0 ? {} : { fix: `If it needs them, set them: ${without.map((name) => `--prop ${name}=…`).join(" ")}` }),
    });
  const value = parseJson(returned ?? "null");
  if (!isJsonObject(value)) return { options: readOptions(value) ?? [], without };
  const context = value["context"];
  return { options: readOptions(value["options"]) ?? [], without, ...(isJsonObject(context) ? { context } : {}) };
}
