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
  /** Other props that the choices were made of, as far as they were seen. */
  readonly reads: readonly string[];
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
  const answer = parseJson(returned ?? "null");
  const { found = null, reads: read = [] } = isJsonObject(answer) ? answer : {};
  const names = new Set(declared.map(({ name }) => name));
  const reads = Array.isArray(read) ? read.filter((name) => typeof name === "string" && names.has(name)).map(String) : [];
  if (!isJsonObject(found)) return { options: readOptions(found) ?? [], without, reads };
  const context = found["context"];
  return { options: readOptions(found["options"]) ?? [], without, reads, ...(isJsonObject(context) ? { context } : {}) };
}
