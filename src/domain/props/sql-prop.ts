import { type JsonValue, isRecord, textAsJson } from "../text/json.ts";
import { type CheckedProp, type Input, type PropKind, type Reading, inputFacts, inputOf, isNothing } from "./prop-kind.ts";

/** A query for the app's database. */
export interface SqlProp extends Input {
  readonly kind: "sql";
  readonly app?: string;
}

export const sqlKind: PropKind<SqlProp> = {
  kind: "sql",
  types: ["sql"],
  read,
  facts: (prop) => ({ ...inputFacts(prop), type: "sql", auth: prop.app === undefined ? undefined : { app: prop.app } }),
  check,
  sample: () => "select 1",
  asking: { isAskedAgain: false },
};

function read(name: string, { raw }: Reading): SqlProp {
  const app = isRecord(raw["auth"]) ? raw["auth"]["app"] : undefined;
  return { kind: "sql", ...inputOf(name, raw), ...(typeof app === "string" ? { app } : {}) };
}

/** Accepts `{ value, query, params, usePreparedStatements }`, or the query alone. */
function check(prop: SqlProp, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given)) return prop.optional ? {} : { problem: `needs a query, e.g. ${prop.name}='select 1'`, isMissing: true };
  const readable = typeof given === "string" && given.trimStart().startsWith("{") ? textAsJson(given) : given;
  const {
    query = null,
    value = query,
    params = [],
    usePreparedStatements = false,
  } = typeof readable === "string" ? { query: readable } : isRecord(readable) ? readable : {};
  if (typeof query !== "string" || query === "") return { problem: `must be a query, got ${JSON.stringify(given)}` };
  return { value: { value, query, params, usePreparedStatements } };
}
