import { didYouMean } from "./did-you-mean.ts";
import { type JsonObject, type JsonValue, isJsonValue, isRecord, isSameJson } from "./json.ts";
import {
  type AppProp,
  type ConfiguredProps,
  type DataStoreProp,
  type HttpRequestProp,
  type PropDeclaration,
  type ScalarType,
  type SqlProp,
  type TimerProp,
  type UserProp,
  isInput,
} from "./prop.ts";
import { type TimerSettings, parseTimer } from "./schedule.ts";

export interface PropProblem {
  readonly prop: string;
  readonly problem: string;
  /** Nothing was given: asking for it would help. */
  readonly isMissing: boolean;
}

export interface CheckedProps {
  readonly values: ConfiguredProps;
  readonly problems: readonly PropProblem[];
}

/** Holds given values against declarations: defaults filled in, text turned into the declared type, every problem told. */
export function checkProps(declared: readonly PropDeclaration[], given: JsonObject): CheckedProps {
  const values: ConfiguredProps = {};
  const problems: PropProblem[] = [];
  for (const prop of declared) {
    const result = checkProp(prop, Object.hasOwn(given, prop.name) ? given[prop.name] : undefined);
    const { problem } = result;
    if (problem !== undefined)
      problems.push({ prop: prop.name, problem: isSecretInput(prop) ? withoutValue(problem) : problem, isMissing: result.isMissing === true });
    else if (result.value !== undefined) values[prop.name] = result.value;
  }
  const names = new Set(declared.map((prop) => prop.name));
  for (const name of Object.keys(given).filter((key) => !names.has(key) && given[key] !== undefined)) {
    problems.push({ prop: name, problem: `is no prop of the component${didYouMean(name, names)}`, isMissing: false });
  }
  return { values, problems };
}

function isSecretInput(prop: PropDeclaration): boolean {
  return prop.kind === "user" && prop.secret;
}

/** Problems end with the value that was given. */
function withoutValue(problem: string): string {
  return problem.replace(/, not .*$/s, ", and it is something else");
}

/** Given values in their declared types, as far as they fit; what is not declared stays as it is. */
export function readableProps(declared: readonly PropDeclaration[], given: JsonObject): JsonObject {
  return { ...given, ...checkProps(declared, given).values };
}

interface CheckedProp {
  readonly value?: JsonValue;
  readonly problem?: string;
  readonly isMissing?: boolean;
}

function checkProp(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  if (isInput(prop) && prop.disabled === true) return {};
  const checked = checkKind(prop, given);
  // Nobody can fill in what is not shown.
  return checked.isMissing === true && isInput(prop) && prop.hidden === true ? {} : checked;
}

function checkKind(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  switch (prop.kind) {
    case "http":
    case "app-hook":
    case "db":
    case "alert":
    case "dir":
      return {};
    case "timer":
      return checkTimer(prop, given);
    case "app":
      return checkApp(prop, given);
    case "data-store":
      return checkDataStore(prop, given);
    case "http-request":
      return checkHttpRequest(prop, given);
    case "sql":
      return checkSql(prop, given);
    case "user":
      return checkUserProp(prop, given);
  }
}

function checkTimer(prop: TimerProp, given: JsonValue | undefined): CheckedProp {
  const own: TimerSettings = { schedule: prop.default, ...(prop.catchUp === undefined ? {} : { catchUp: prop.catchUp }) };
  if (given === undefined || given === null) return { value: timerValue(own) };
  const readable = typeof given === "string" ? textAsJson(given) : given;
  const parsed = parseTimer(readable);
  if (typeof parsed === "string") return { problem: parsed };
  if (prop.isStatic && !isSameJson(timerValue({ schedule: parsed.schedule }), timerValue({ schedule: prop.default })))
    return { problem: `is fixed by the component at ${JSON.stringify(timerValue(own))}: leave it out, not ${JSON.stringify(given)}` };
  return { value: timerValue({ ...own, ...parsed }) };
}

/** A schedule that only the component sets, whatever was configured for an earlier version. */
export function isFixed(prop: PropDeclaration): boolean {
  return prop.kind === "timer" && prop.isStatic;
}

function timerValue({ schedule, catchUp }: TimerSettings): JsonObject {
  const value: JsonObject = schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
  return catchUp === undefined ? value : { ...value, catchUp };
}

function checkApp(prop: AppProp, given: JsonValue | undefined): CheckedProp {
  const readable = typeof given === "string" ? textAsJson(given) : given;
  if (readable === undefined || readable === null) {
    if (prop.optional) return {};
    return {
      problem: `needs an account of ${prop.app}: the id or name of one that is connected, or credentials as JSON, e.g. ${prop.name}=@file.json`,
      isMissing: true,
    };
  }
  if (isRecord(readable)) return { value: readable };
  // It is not quoted: it may be a secret.
  const isMeantAsJson = typeof given === "string" && given.trimStart().startsWith("{");
  const wanted = `wants the id or name of an account of ${prop.app} that is connected (pd accounts list ${prop.app}), or credentials as a JSON object`;
  return { problem: `${wanted}; ${isMeantAsJson ? "this is no whole JSON object" : "no account of it is called like this"}` };
}

function checkDataStore(prop: DataStoreProp, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given)) return prop.optional ? {} : { problem: "needs the name of a data store; one that does not exist is made", isMissing: true };
  return typeof given === "string" ? { value: given } : { problem: `wants the name of a data store, not ${JSON.stringify(given)}` };
}

/** `{ url, method, headers, params, body, auth }` (platform.md §4.2); a text alone is the URL. */
function checkHttpRequest(prop: HttpRequestProp, given: JsonValue | undefined): CheckedProp {
  const readable = typeof given === "string" ? textAsJson(given) : given;
  const request = isNothing(readable) ? prop.default : typeof readable === "string" ? { url: readable } : readable;
  if (request === undefined)
    return prop.optional ? {} : { problem: `needs a request as JSON, e.g. ${prop.name}='{"url":"https://…","method":"GET"}'`, isMissing: true };
  if (!isRecord(request)) return { problem: `wants a request as a JSON object, not ${JSON.stringify(given)}` };
  const whole = { ...prop.default, ...request };
  if (typeof whole.url === "string" && whole.url !== "") return { value: whole };
  return prop.optional && isNothing(given)
    ? {}
    : { problem: `needs the url of the request, e.g. ${prop.name}='{"url":"https://…"}'`, isMissing: isNothing(given) };
}

/** `{ value, query, params, usePreparedStatements }` (platform.md §4.2); a text alone is the query. */
function checkSql(prop: SqlProp, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given)) return prop.optional ? {} : { problem: `needs a query, e.g. ${prop.name}='select 1'`, isMissing: true };
  const readable = typeof given === "string" && given.trimStart().startsWith("{") ? textAsJson(given) : given;
  const {
    query = null,
    value = query,
    params = [],
    usePreparedStatements = false,
  } = typeof readable === "string" ? { query: readable } : isRecord(readable) ? readable : {};
  if (typeof query !== "string" || query === "") return { problem: `wants a query, not ${JSON.stringify(given)}` };
  return { value: { value, query, params, usePreparedStatements } };
}

function isNothing(given: JsonValue | undefined): given is undefined | null | "" {
  return given === undefined || given === null || given === "";
}

function checkUserProp(prop: UserProp, given: JsonValue | undefined): CheckedProp {
  const isEmpty = given === undefined || given === null || (given === "" && (prop.scalar !== "string" || prop.default !== undefined));
  if (isEmpty && prop.default !== undefined) return { value: defaultOf(prop, prop.default) };
  if (isEmpty) return prop.optional ? {} : { problem: "is required", isMissing: true };
  if (given === "" && !prop.optional) return { problem: "is required", isMissing: true };
  if (!prop.isArray) return checkScalar(prop, given);
  if (isLabelled(given)) return { value: given };
  const items = typeof given === "string" ? textAsList(given) : given;
  if (!Array.isArray(items)) return { problem: `wants a list, not ${JSON.stringify(given)}` };
  const checked = items.map((item) => checkScalar(prop, item));
  const bad = checked.find((item) => item.problem !== undefined);
  return bad ?? { value: checked.flatMap((item) => (item.value === undefined ? [] : [item.value])) };
}

/** A number or a truth value that its author wrote as text arrives as what it is declared to be. */
function defaultOf({ scalar, isArray }: UserProp, given: JsonValue): JsonValue {
  if (scalar !== "integer" && scalar !== "boolean") return given;
  if (isArray) return Array.isArray(given) ? given.map((item) => asScalar(scalar, item) ?? item) : given;
  return asScalar(scalar, given) ?? given;
}

function checkScalar(prop: UserProp, given: JsonValue): CheckedProp {
  const value = asScalar(prop.scalar, given);
  if (value === undefined)
    return { problem: `wants ${prop.scalar === "object" ? "an object" : `a value of type ${prop.scalar}`}, not ${JSON.stringify(given)}` };
  if (typeof value === "number" && prop.min !== undefined && value < prop.min) return { problem: `must be at least ${prop.min}, not ${value}` };
  if (typeof value === "number" && prop.max !== undefined && value > prop.max) return { problem: `must be at most ${prop.max}, not ${value}` };
  if (prop.options !== undefined && prop.options.length > 0 && !prop.options.some((option) => String(option.value) === String(plainValue(value)))) {
    const choices = prop.options.map((option) => JSON.stringify(option.value)).join(", ");
    return { problem: `must be one of ${choices}, not ${JSON.stringify(value)}` };
  }
  return { value: prop.withLabel === true ? labelled(prop, value) : value };
}

/** With its label, as code that asked for one reads it; without a known label the value stands for it. */
function labelled({ options = [] }: UserProp, value: JsonValue): JsonValue {
  if (isLabelled(value)) return value;
  const known = options.find((option) => String(option.value) === String(value));
  return { __lv: { label: known?.label ?? (typeof value === "string" ? value : JSON.stringify(value)), value } };
}

/** The value in its declared type; text is read as the command line gives it. `undefined`: it does not fit. */
function asScalar(scalar: ScalarType, given: JsonValue): JsonValue | undefined {
  switch (scalar) {
    case "any":
      return typeof given === "string" ? textAsJson(given) : given;
    case "string":
      if (isLabelled(given)) return given;
      return typeof given === "string" ? given : typeof given === "number" || typeof given === "boolean" ? String(given) : undefined;
    case "boolean":
      if (typeof given === "boolean") return given;
      return given === "true" || given === "false" ? given === "true" : undefined;
    case "integer": {
      if (isLabelled(given)) return given;
      const number = typeof given === "number" ? given : typeof given === "string" && given.trim() !== "" ? Number(given) : Number.NaN;
      return Number.isInteger(number) ? number : undefined;
    }
    case "object": {
      const readable = typeof given === "string" ? textAsJson(given) : given;
      return isRecord(readable) ? readable : undefined;
    }
  }
}

/** The value of a choice, with or without its label. */
function plainValue(value: JsonValue): JsonValue | undefined {
  const labelled = isRecord(value) ? value["__lv"] : undefined;
  return isRecord(labelled) && isJsonValue(labelled["value"]) ? labelled["value"] : value;
}

/** A choice kept with its label, `{ __lv: { label, value } }` (platform.md §4.3 withLabel). */
function isLabelled(value: JsonValue): boolean {
  return isRecord(value) && isRecord(value["__lv"]);
}

function textAsJson(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonValue(value) ? value : text;
  } catch {
    return text;
  }
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
