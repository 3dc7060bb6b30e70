import { type JsonValue, isJsonObject, isJsonValue, isRecord, isSameJson, parseJson, textAsJson } from "../text/json.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { STARS, textsAndNumbersIn } from "../account/secrets.ts";
import { type CheckedProp, type Input, type PropFacts, type PropKind, type Reading, inputFacts, inputOf } from "./prop-kind.ts";

/** `any` also covers unknown types. */
type ScalarType = "string" | "boolean" | "integer" | "object" | "any";

export interface PropOption {
  readonly label: string;
  readonly value: JsonValue;
}

export interface UserProp extends Input {
  readonly kind: "user";
  /** As declared, such as `string[]`. */
  readonly type: string;
  readonly scalar: ScalarType;
  readonly isArray: boolean;
  readonly secret: boolean;
  readonly default?: JsonValue;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly PropOption[];
  /** The choices come from a method or from the third party. */
  readonly remoteOptions: boolean;
  readonly useQuery?: true;
  /** Code reads `{ label, value }`. */
  readonly withLabel?: true;
}

const SCALARS: readonly string[] = ["string", "boolean", "integer", "object", "any"];

/** This program asks a third party for the choices. */
const REMOTE_TYPES: readonly string[] = [
  "$.airtable.baseId",
  "$.airtable.tableId",
  "$.airtable.viewId",
  "$.airtable.fieldId",
  "$.discord.channel",
  "$.discord.channel[]",
];

/** For suggestions. */
const DOLLAR_TYPES: readonly string[] = ["$.interface.timer", "$.interface.http", "$.interface.apphook", "$.service.db", ...REMOTE_TYPES];

/** Types of the hosted platform, and what to use here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "$.interface.email": "declare $.interface.http instead, and have your mail provider post incoming mail to its endpoint",
  "$.interface.sse": "declare $.interface.timer or $.interface.http instead",
};

export const userKind: PropKind<UserProp> = {
  kind: "user",
  types: SCALARS.flatMap((scalar) => [scalar, `${scalar}[]`]),
  read,
  facts: (prop) => {
    const { type, min, max, options, useQuery, withLabel } = prop;
    const flags = { secret: prop.secret || undefined, remoteOptions: prop.remoteOptions || undefined, useQuery, withLabel };
    return { ...inputFacts(prop), type, min, max, default: prop.default, options: options?.map((option) => ({ ...option })), ...flags };
  },
  check,
  sample: (prop) => (prop.default === undefined ? (prop.isArray ? [sampleScalar(prop)] : sampleScalar(prop)) : undefined),
  secret: { isIn: ({ secret }) => secret, starred: () => STARS, texts: textsAndNumbersIn },
  asking: { form: formOf, problem: answerProblem, isAskedAgain: true },
};

function isScalar(type: string): type is ScalarType {
  return SCALARS.includes(type);
}

function read(name: string, { raw, warnings, problems }: Reading): UserProp {
  const type = typeof raw["type"] === "string" ? raw["type"] : "";
  const isRemote = REMOTE_TYPES.includes(type);
  const base = type.endsWith("[]") ? type.slice(0, -2) : type;
  if (type.startsWith("$.") && !isRemote) {
    problems.push(`prop ${name} has the type ${JSON.stringify(type)}, which ${whyNot(type)}`);
  } else if (!isScalar(base) && !isRemote) {
    warnings.push(`prop ${name} has the unknown type ${JSON.stringify(type)}${didYouMean(base, SCALARS)}; it accepts any JSON value`);
  }
  const options = readOptions(raw["options"]);
  return {
    kind: "user",
    ...inputOf(name, raw),
    type: type === "" ? "any" : type,
    scalar: isRemote ? "string" : isScalar(base) ? base : "any",
    isArray: type.endsWith("[]"),
    secret: raw["secret"] === true,
    remoteOptions: raw["remoteOptions"] === true || isRemote,
    ...(isJsonValue(raw["default"]) ? { default: raw["default"] } : {}),
    ...(typeof raw["min"] === "number" ? { min: raw["min"] } : {}),
    ...(typeof raw["max"] === "number" ? { max: raw["max"] } : {}),
    ...(options === undefined ? {} : { options }),
    ...(raw["useQuery"] === true ? { useQuery: true } : {}),
    ...(raw["withLabel"] === true ? { withLabel: true } : {}),
  };
}

function whyNot(type: string): string {
  const near = ELSEWHERE[type] === undefined ? didYouMean(lastPart(type), DOLLAR_TYPES.map(lastPart)) : "";
  if (near !== "") return `is not known${near}`;
  return `only the hosted platform supports: ${ELSEWHERE[type] ?? "remove the prop, or use a documented type"}`;
}

function lastPart(type: string): string {
  return type.split(".").at(-1) ?? "";
}

export function isOpenType(type: string): boolean {
  return type === "any" || !(type.endsWith("[]") || isScalar(type) || REMOTE_TYPES.includes(type));
}

/** A choice is a value, `{ label, value }` or `{ __lv: { label, value } }`. */
export function readOptions(raw: unknown): readonly PropOption[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return raw.filter(isJsonValue).map(readOption);
}

function readOption(option: JsonValue): PropOption {
  const labelled = isRecord(option) && isRecord(option["__lv"]) ? option["__lv"] : option;
  if (!isRecord(labelled) || !("value" in labelled) || !isJsonValue(labelled["value"])) return { label: labelOf(option), value: option };
  const { label, value } = labelled;
  return { label: typeof label === "string" ? label : labelOf(value), value };
}

function labelOf(value: JsonValue): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function check(prop: UserProp, labelled: JsonValue | undefined): CheckedProp {
  const given = prop.withLabel === true || labelled === undefined ? labelled : withoutLabels(labelled);
  const isEmpty = given === undefined || given === null || (given === "" && (prop.scalar !== "string" || prop.default !== undefined));
  if (isEmpty && prop.default !== undefined) return { value: defaultOf(prop, prop.default) };
  if (isEmpty) return prop.optional ? {} : { problem: "is required", isMissing: true };
  if (given === "" && !prop.optional) return { problem: "is required", isMissing: true };
  if (!prop.isArray) return checkScalar(prop, given);
  if (isLabelled(given)) return { value: given };
  const items = typeof given === "string" ? textAsList(given) : given;
  if (!Array.isArray(items)) return { problem: `must be a list, got ${JSON.stringify(given)}` };
  const checked = items.map((item) => checkScalar(prop, item));
  const bad = checked.find((item) => item.problem !== undefined);
  return bad ?? { value: checked.flatMap((item) => (item.value === undefined ? [] : [item.value])) };
}

/** Converts a number or boolean that the author wrote as a string. */
function defaultOf({ scalar, isArray }: UserProp, given: JsonValue): JsonValue {
  if (scalar !== "integer" && scalar !== "boolean") return given;
  if (isArray) return Array.isArray(given) ? given.map((item) => asScalar(scalar, item) ?? item) : given;
  return asScalar(scalar, given) ?? given;
}

function checkScalar(prop: UserProp, given: JsonValue): CheckedProp {
  const value = objectChoice(prop, given) ?? asScalar(prop.scalar, given);
  if (value === undefined) return { problem: `must be ${prop.scalar === "object" ? "an object" : `of type ${prop.scalar}`}, got ${JSON.stringify(given)}` };
  if (typeof value === "number" && prop.min !== undefined && value < prop.min) return { problem: `must be at least ${prop.min}, got ${value}` };
  if (typeof value === "number" && prop.max !== undefined && value > prop.max) return { problem: `must be at most ${prop.max}, got ${value}` };
  if (prop.options !== undefined && prop.options.length > 0 && !prop.options.some((option) => isChoice(option, plainValue(value) ?? value))) {
    const choices = prop.options.map((option) => JSON.stringify(option.value)).join(", ");
    return { problem: `must be one of ${choices}, got ${JSON.stringify(value)}` };
  }
  return { value: prop.withLabel === true ? labelled(prop, value) : value };
}

/** Choices of every type may be objects or lists. */
function objectChoice({ options = [], remoteOptions }: UserProp, given: JsonValue): JsonValue | undefined {
  const value = plainValue(given) ?? given;
  const read = typeof value === "string" ? textAsJson(value) : value;
  if (!isObject(read)) return undefined;
  if (options.length > 0)
    return options.some((option) => isObject(option.value) && isSameJson(option.value, read)) ? (typeof given === "string" ? read : given) : undefined;
  return remoteOptions && isObject(value) ? given : undefined;
}

function isObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

function isChoice({ value: choice }: PropOption, value: JsonValue): boolean {
  return isObject(choice) || isObject(value) ? isSameJson(choice, typeof value === "string" ? textAsJson(value) : value) : String(choice) === String(value);
}

/** Without a known label, the value is the label. */
function labelled({ options = [] }: UserProp, value: JsonValue): JsonValue {
  if (isLabelled(value)) return value;
  const known = options.find((option) => isChoice(option, value));
  return { __lv: { label: known?.label ?? (typeof value === "string" ? value : JSON.stringify(value)), value } };
}

/** Reads text as on the command line. */
function asScalar(scalar: ScalarType, given: JsonValue): JsonValue | undefined {
  switch (scalar) {
    case "any":
      // A string is valid here, so it is not parsed as JSON.
      return given;
    case "string":
      if (isLabelled(given)) return given;
      return typeof given === "string" ? given : typeof given === "number" || typeof given === "boolean" ? String(given) : undefined;
    case "boolean":
      if (typeof given === "boolean") return given;
      return given === "true" || given === "false" ? given === "true" : undefined;
    case "integer": {
      if (isLabelled(given)) return given;
      const number = typeof given === "number" ? given : typeof given === "string" && given.trim() !== "" ? Number(given) : Number.NaN;
      // Larger numbers would be rounded.
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case "object": {
      const readable = typeof given === "string" ? textAsJson(given) : given;
      return isRecord(readable) ? readable : undefined;
    }
  }
}

/** Also unwraps labels in and around lists. */
export function withoutLabels(given: JsonValue): JsonValue {
  if (Array.isArray(given)) return given.map(withoutLabels);
  const labelled = isRecord(given) ? given["__lv"] : undefined;
  if (Array.isArray(labelled))
    return labelled.map((one: unknown) => (isRecord(one) && "value" in one && isJsonValue(one["value"]) ? one["value"] : isJsonValue(one) ? one : null));
  return plainValue(given) ?? given;
}

function plainValue(value: JsonValue): JsonValue | undefined {
  const labelled = isRecord(value) ? value["__lv"] : undefined;
  return isRecord(labelled) && isJsonValue(labelled["value"]) ? labelled["value"] : value;
}

function isLabelled(value: JsonValue): boolean {
  return isRecord(value) && isRecord(value["__lv"]);
}

function textAsList(text: string): JsonValue {
  const value = text.trimStart().startsWith("[") ? textAsJson(text) : text;
  return typeof value === "string"
    ? value
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "")
    : value;
}

function sampleScalar({ scalar, options = [], min, max }: UserProp): JsonValue {
  const [first] = options;
  if (first !== undefined) return first.value;
  switch (scalar) {
    case "integer":
      return min ?? Math.min(1, max ?? 1);
    case "boolean":
      return true;
    case "object":
      return {};
    case "string":
    case "any":
      return "sample";
  }
}

function formOf({ type }: PropFacts): string | undefined {
  if (type.endsWith("[]")) return "a, b or a JSON list";
  return type === "object" ? "JSON" : undefined;
}

function answerProblem({ type, min, max }: PropFacts, answer: string): string | undefined {
  if (type === "object") return isJsonObject(parseJson(answer)) ? undefined : "Enter a JSON object";
  if (type !== "integer") return undefined;
  const value = Number(answer);
  if (!Number.isInteger(value)) return "Enter a whole number";
  if (min !== undefined && value < min) return `At least ${min}`;
  return max !== undefined && value > max ? `At most ${max}` : undefined;
}
