import { type JsonValue, isJsonObject, isRecord, parseJson, textAsJson } from "../text/json.ts";
import { STARS, fieldTexts } from "../account/secrets.ts";
import { type CheckedProp, type Input, type PropKind, type Reading, inputFacts, inputOf } from "./prop-kind.ts";

/** The value is an account of the app, or credentials. */
export interface AppProp extends Input {
  readonly kind: "app";
  /** Name slug. */
  readonly app: string;
}

export const appKind: PropKind<AppProp> = {
  kind: "app",
  types: ["app"],
  read,
  facts: (prop) => ({ ...inputFacts(prop), type: "app", app: prop.app }),
  check,
  sample: () => ({ oauth_access_token: "sample", oauth_uid: "sample", api_key: "sample" }),
  secret: { isIn: () => true, starred, texts: fieldTexts },
  asking: {
    problem: (_facts, answer) =>
      answer.startsWith("@") || isJsonObject(parseJson(answer)) ? undefined : 'Enter a JSON object such as {"api_key":"…"}, or @file.json',
    offers: "accounts",
    isAskedAgain: false,
  },
};

function read(name: string, { raw, problems }: Reading): AppProp {
  if (typeof raw["app"] !== "string") problems.push(`prop ${name} of type app needs the app's name slug in \`app\``);
  return { kind: "app", app: typeof raw["app"] === "string" ? raw["app"] : "", ...inputOf(name, raw) };
}

function check(prop: AppProp, given: JsonValue | undefined): CheckedProp {
  const readable = typeof given === "string" ? textAsJson(given) : given;
  if (readable === undefined || readable === null) {
    if (prop.optional) return {};
    return {
      problem: `needs an account of ${prop.app}: the id or name of a connected one, or credentials as JSON, e.g. ${prop.name}=@file.json`,
      isMissing: true,
    };
  }
  if (isRecord(readable)) return { value: readable };
  // The problem does not quote the value, which may be a secret.
  const isMeantAsJson = typeof given === "string" && given.trimStart().startsWith("{");
  const wanted = `must be the id or name of a connected account of ${prop.app} (pd accounts list ${prop.app}), or credentials as a JSON object`;
  return { problem: `${wanted}; ${isMeantAsJson ? "this JSON object is not complete" : "no account of it has this id or name"}` };
}

/** Shows an account's id, and only the field names of credentials. */
function starred(value: JsonValue): JsonValue | undefined {
  if (accountIdOf(value) !== undefined) return value;
  return isJsonObject(value) ? Object.fromEntries(Object.keys(value).map((field) => [field, STARS])) : undefined;
}

/** Undefined for credentials. */
export function accountIdOf(value: JsonValue | undefined): string | undefined {
  const id = isJsonObject(value) ? value["authProvisionId"] : undefined;
  return typeof id === "string" ? id : undefined;
}
