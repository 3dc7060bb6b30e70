import { type JsonObject, type JsonValue, isJsonValue, isRecord } from "./json.ts";
import { HOURLY, type Schedule, parseTimer } from "./schedule.ts";

/** The scalar types of user input props; `any` also stands for types this version does not know. */
export type ScalarType = "string" | "boolean" | "integer" | "object" | "any";

export interface PropOption {
  readonly label: string;
  readonly value: JsonValue;
}

/** User input, asked for at deploy. */
export interface UserProp {
  readonly kind: "user";
  readonly name: string;
  /** As declared, e.g. `string[]`. */
  readonly type: string;
  readonly scalar: ScalarType;
  readonly isArray: boolean;
  readonly label?: string;
  readonly description?: string;
  readonly optional: boolean;
  readonly secret: boolean;
  readonly default?: JsonValue;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly PropOption[];
  /** `options` is a method: choices are asked for from the component. */
  readonly remoteOptions: boolean;
}

export interface HttpProp {
  readonly kind: "http";
  readonly name: string;
  readonly customResponse: boolean;
}

export interface TimerProp {
  readonly kind: "timer";
  readonly name: string;
  readonly default: Schedule;
  /** A `static` schedule may not be changed by the user (platform.md §4.2). */
  readonly isStatic: boolean;
}

export interface DbProp {
  readonly kind: "db";
  readonly name: string;
}

export interface AppProp {
  readonly kind: "app";
  readonly name: string;
  /** Name slug of the app. */
  readonly app: string;
  readonly optional: boolean;
  readonly label?: string;
  readonly description?: string;
}

export type PropDeclaration = UserProp | HttpProp | TimerProp | DbProp | AppProp;

/** Prop name → what the user gave or a default said. Interfaces other than timers and `db` have no value. */
export type ConfiguredProps = JsonObject;

export interface ReadProps {
  readonly props: readonly PropDeclaration[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const SCALARS: readonly string[] = ["string", "boolean", "integer", "object", "any"];

function isScalar(type: string): type is ScalarType {
  return SCALARS.includes(type);
}

/** Reads prop declarations as the component's process reports them: plain data, propDefinitions resolved. */
export function readProps(raw: unknown): ReadProps {
  const problems: string[] = [];
  const warnings: string[] = [];
  const props: PropDeclaration[] = [];
  if (raw !== undefined && !isRecord(raw)) problems.push(`props wants an object, not ${JSON.stringify(raw)}`);
  for (const [name, value] of Object.entries(isRecord(raw) ? raw : {})) {
    const declared = typeof value === "string" ? { type: value } : value;
    if (declared === undefined || declared === null) continue;
    if (!isRecord(declared)) problems.push(`prop ${name} wants an object or a type, not ${JSON.stringify(declared)}`);
    else if (typeof declared["problem"] === "string") problems.push(`prop ${name}: ${declared["problem"]}`);
    else props.push(readProp(name, declared, { warnings, problems }));
  }
  return { props, problems, warnings };
}

function readProp(name: string, raw: Record<string, unknown>, { warnings, problems }: { warnings: string[]; problems: string[] }): PropDeclaration {
  const type = typeof raw["type"] === "string" ? raw["type"] : "";
  switch (type) {
    case "$.interface.http":
      return { kind: "http", name, customResponse: raw["customResponse"] === true };
    case "$.interface.timer":
      return readTimer(name, raw, problems);
    case "$.service.db":
      return { kind: "db", name };
    case "app":
      if (typeof raw["app"] !== "string") problems.push(`prop ${name} of type app wants the app's name slug in \`app\``);
      return { kind: "app", name, app: String(raw["app"]), optional: raw["optional"] === true, ...readTexts(raw) };
    default:
      return readUserProp(name, type, { raw, warnings });
  }
}

function readTimer(name: string, raw: Record<string, unknown>, problems: string[]): TimerProp {
  const fixed = raw["static"] !== undefined && raw["static"] !== null;
  const given = fixed ? raw["static"] : raw["default"];
  const parsed = given === undefined || given === null ? { schedule: HOURLY } : parseTimer(given);
  if (typeof parsed === "string") problems.push(`prop ${name}: ${parsed}`);
  return { kind: "timer", name, default: typeof parsed === "string" ? HOURLY : parsed.schedule, isStatic: fixed };
}

function readUserProp(name: string, type: string, { raw, warnings }: { raw: Record<string, unknown>; warnings: string[] }): UserProp {
  const base = type.endsWith("[]") ? type.slice(0, -2) : type;
  if (!isScalar(base) && type !== "alert")
    warnings.push(`prop ${name} has the type ${JSON.stringify(type)}, which is not known here; any JSON value is taken for it`);
  const options = readOptions(raw["options"]);
  return {
    kind: "user",
    name,
    type: type === "" ? "any" : type,
    scalar: isScalar(base) ? base : "any",
    isArray: type.endsWith("[]"),
    // An alert is shown and has no value (platform.md §4.2).
    optional: raw["optional"] === true || type === "alert",
    secret: raw["secret"] === true,
    remoteOptions: raw["remoteOptions"] === true,
    ...readTexts(raw),
    ...(isJsonValue(raw["default"]) ? { default: raw["default"] } : {}),
    ...(typeof raw["min"] === "number" ? { min: raw["min"] } : {}),
    ...(typeof raw["max"] === "number" ? { max: raw["max"] } : {}),
    ...(options === undefined ? {} : { options }),
  };
}

function readTexts(raw: Record<string, unknown>): { label?: string; description?: string } {
  return {
    ...(typeof raw["label"] === "string" ? { label: raw["label"] } : {}),
    ...(typeof raw["description"] === "string" ? { description: raw["description"] } : {}),
  };
}

/** Choices, each a value or `{ label, value }`; `undefined` when it is no list. */
export function readOptions(raw: unknown): readonly PropOption[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return raw.filter(isJsonValue).map((option) => {
    const value = isRecord(option) && "value" in option && isJsonValue(option["value"]) ? option["value"] : option;
    const label = isRecord(option) && typeof option["label"] === "string" ? option["label"] : String(value);
    return { label, value };
  });
}

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
    const result = checkProp(prop, given[prop.name]);
    if (result.problem !== undefined) problems.push({ prop: prop.name, problem: result.problem, isMissing: result.isMissing === true });
    else if (result.value !== undefined) values[prop.name] = result.value;
  }
  const names = new Set(declared.map((prop) => prop.name));
  for (const name of Object.keys(given).filter((key) => !names.has(key) && given[key] !== undefined)) {
    problems.push({ prop: name, problem: `the component has no such prop${didYouMean(name, names)}`, isMissing: false });
  }
  return { values, problems };
}

interface CheckedProp {
  readonly value?: JsonValue;
  readonly problem?: string;
  readonly isMissing?: boolean;
}

function checkProp(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  switch (prop.kind) {
    case "http":
    case "db":
      return {};
    case "timer":
      return checkTimer(prop, given);
    case "app":
      return checkApp(prop, given);
    case "user":
      return checkUserProp(prop, given);
  }
}

function checkTimer(prop: TimerProp, given: JsonValue | undefined): CheckedProp {
  if (given === undefined || given === null || prop.isStatic) return { value: timerValue({ schedule: prop.default }) };
  const readable = typeof given === "string" ? textAsJson(given) : given;
  const parsed = parseTimer(readable);
  return typeof parsed === "string" ? { problem: parsed } : { value: timerValue(parsed) };
}

function timerValue({ schedule, catchUp }: { schedule: Schedule; catchUp?: string }): JsonObject {
  const value: JsonObject = schedule.kind === "interval" ? { intervalSeconds: schedule.seconds } : { cron: schedule.expression, timezone: schedule.timezone };
  return catchUp === undefined ? value : { ...value, catchUp };
}

function checkApp(prop: AppProp, given: JsonValue | undefined): CheckedProp {
  const readable = typeof given === "string" ? textAsJson(given) : given;
  if (readable === undefined || readable === null) {
    if (prop.optional) return {};
    return { problem: `needs the credentials of ${prop.app} as JSON, e.g. ${prop.name}='{"api_key":"…"}' or ${prop.name}=@file.json`, isMissing: true };
  }
  return isRecord(readable) ? { value: readable } : { problem: `wants the credentials of ${prop.app} as a JSON object, not ${JSON.stringify(given)}` };
}

function checkUserProp(prop: UserProp, given: JsonValue | undefined): CheckedProp {
  const isEmpty = given === undefined || given === null || (given === "" && (prop.scalar !== "string" || prop.default !== undefined));
  if (isEmpty && prop.default !== undefined) return { value: prop.default };
  if (isEmpty) return prop.optional ? {} : { problem: "is required", isMissing: true };
  if (given === "" && !prop.optional) return { problem: "is required", isMissing: true };
  if (!prop.isArray) return checkScalar(prop, given);
  const items = typeof given === "string" ? textAsList(given) : given;
  if (!Array.isArray(items)) return { problem: `wants a list, not ${JSON.stringify(given)}` };
  const checked = items.map((item) => checkScalar(prop, item));
  const bad = checked.find((item) => item.problem !== undefined);
  return bad ?? { value: checked.flatMap((item) => (item.value === undefined ? [] : [item.value])) };
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
  return { value };
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

/** ` (did you mean x?)` when a known name is close to the given one. */
function didYouMean(name: string, known: Iterable<string>): string {
  const close = [...known]
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return close !== undefined && close.distance <= Math.max(1, name.length / 3) ? ` (did you mean ${close.candidate}?)` : "";
}

/** How many letters have to be added, taken away or changed (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_none, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
