import { type JsonValue, isJsonObject } from "../text/json.ts";
import { type CheckedProp, type Input, type PropKind, inputFacts, inputOf, isNothing } from "./prop-kind.ts";

/** A shared key-value store. The value is its name. */
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
  asking: { form: () => "a new name creates one", offers: "data-stores", isAskedAgain: false },
};

/** The hosted platform's files contain `{ storeId: ds_… }`. */
export function storeIdOf(value: JsonValue | undefined): string | undefined {
  const id = isJsonObject(value) ? value["storeId"] : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function check(prop: DataStoreProp, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given)) return prop.optional ? {} : { problem: "needs the name of a data store; a new name creates one", isMissing: true };
  const name = storeIdOf(given) ?? given;
  return typeof name === "string" ? { value: name } : { problem: `must be the name of a data store, got ${JSON.stringify(given)}` };
}
