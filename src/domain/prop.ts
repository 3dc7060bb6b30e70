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
