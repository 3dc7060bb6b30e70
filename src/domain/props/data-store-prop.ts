import type { JsonValue } from "../json.ts";
import { type CheckedProp, type Input, type PropKind, inputFacts, inputOf, isNothing } from "./prop-kind.ts";

/** A key-value store that several components share; the value is its name. */
export interface DataStoreProp extends Input {
  readonly kind: "data-store";
}

export const dataStoreKind: PropKind<DataStoreProp> = {
  kind: "data-store",
  types: ["data_store"],
  read: (name, { raw }) => ({ kind: "data-store", ...inputOf(name, raw) }),
  facts: (prop) => ({ ...inputFacts(prop), type: "data_store" }),
  check,
  sample: () => "sample",
  asking: { form: () => "a new name makes one", offers: "data-stores", isAskedAgain: false },
};

function check(prop: DataStoreProp, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given)) return prop.optional ? {} : { problem: "needs the name of a data store; one that does not exist is made", isMissing: true };
  return typeof given === "string" ? { value: given } : { problem: `wants the name of a data store, not ${JSON.stringify(given)}` };
}
