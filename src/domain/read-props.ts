import { type JsonValue, isJsonObject, isJsonValue, isRecord } from "./json.ts";
import type { AppHookProp, HttpRequestProp, PropDeclaration, PropOption, ScalarType, SqlProp, TimerProp, UserProp } from "./prop.ts";
import { HOURLY, type TimerSettings, parseTimer } from "./schedule.ts";

export interface ReadProps {
  readonly props: readonly PropDeclaration[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface Reading {
  readonly raw: Record<string, unknown>;
  readonly warnings: string[];
  readonly problems: string[];
}

const SCALARS: readonly string[] = ["string", "boolean", "integer", "object", "any"];

/** Types whose value is an id at a third party, and whose choices this program asks that party for (platform.md §4.2). */
const REMOTE_TYPES: readonly string[] = [
  "$.airtable.baseId",
  "$.airtable.tableId",
  "$.airtable.viewId",
  "$.airtable.fieldId",
  "$.discord.channel",
  "$.discord.channel[]",
];

/** What only the hosted platform can offer, and what does the same here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "$.interface.email": "declare $.interface.http instead, and have your mail provider post incoming mail to its endpoint",
  "$.interface.sse": "declare $.interface.timer or $.interface.http instead",
};

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
    else props.push(readProp(name, { raw: declared, warnings, problems }));
  }
  return { props, problems, warnings };
}

function readProp(name: string, reading: Reading): PropDeclaration {
  const { raw, problems } = reading;
  const type = typeof raw["type"] === "string" ? raw["type"] : "";
  switch (type) {
    case "$.interface.http":
      return { kind: "http", name, customResponse: raw["customResponse"] === true };
    case "$.interface.timer":
      return readTimer(name, reading);
    case "$.interface.apphook":
      return readAppHook(name, raw);
    case "$.service.db":
      return { kind: "db", name };
    case "app":
      if (typeof raw["app"] !== "string") problems.push(`prop ${name} of type app wants the app's name slug in \`app\``);
      return { kind: "app", app: String(raw["app"]), ...readInput(name, raw) };
    case "data_store":
      return { kind: "data-store", ...readInput(name, raw) };
    case "http_request":
      return readHttpRequest(name, raw);
    case "sql":
      return readSql(name, raw);
    case "alert":
      return {
        kind: "alert",
        name,
        alertType: textOf(raw["alertType"], "info"),
        content: textOf(raw["content"], ""),
        ...(raw["hidden"] === true ? { hidden: true } : {}),
      };
    case "dir":
      return {
        kind: "dir",
        name,
        ...(typeof raw["accessMode"] === "string" ? { accessMode: raw["accessMode"] } : {}),
        ...(typeof raw["sync"] === "boolean" ? { sync: raw["sync"] } : {}),
      };
    default:
      return readUserProp(name, type, reading);
  }
}

function readTimer(name: string, { raw, problems }: Reading): TimerProp {
  const fixed = raw["static"] !== undefined && raw["static"] !== null;
  const given = fixed ? raw["static"] : raw["default"];
  const parsed: TimerSettings | string = given === undefined || given === null ? { schedule: HOURLY } : parseTimer(given);
  if (typeof parsed === "string") problems.push(`prop ${name}: ${parsed}`);
  if (typeof parsed === "string") return { kind: "timer", name, default: HOURLY, isStatic: fixed };
  return { kind: "timer", name, default: parsed.schedule, isStatic: fixed, ...(parsed.catchUp === undefined ? {} : { catchUp: parsed.catchUp }) };
}

/** Names given in `static` count as those in `eventNames` (registry.md §3). */
function readAppHook(name: string, raw: Record<string, unknown>): AppHookProp {
  const names = raw["eventNames"] ?? raw["static"];
  if (raw["eventNamesByMethod"] === true) return { kind: "app-hook", name, namesByMethod: true };
  return { kind: "app-hook", name, ...(Array.isArray(names) ? { eventNames: names.map(String) } : {}) };
}

function readHttpRequest(name: string, raw: Record<string, unknown>): HttpRequestProp {
  return { kind: "http-request", ...readInput(name, raw), ...(isJsonObject(raw["default"]) ? { default: raw["default"] } : {}) };
}

function readSql(name: string, raw: Record<string, unknown>): SqlProp {
  const app = isRecord(raw["auth"]) ? raw["auth"]["app"] : undefined;
  return { kind: "sql", ...readInput(name, raw), ...(typeof app === "string" ? { app } : {}) };
}

function readUserProp(name: string, type: string, { raw, warnings, problems }: Reading): UserProp {
  const isRemote = REMOTE_TYPES.includes(type);
  const base = type.endsWith("[]") ? type.slice(0, -2) : type;
  if (type.startsWith("$.") && !isRemote) {
    const instead = ELSEWHERE[type] ?? "take the prop out, or give it one of the documented types";
    problems.push(`prop ${name} is of the type ${JSON.stringify(type)}, which only the hosted platform offers: ${instead}`);
  } else if (!isScalar(base) && !isRemote) {
    warnings.push(`prop ${name} has the type ${JSON.stringify(type)}, which is not known here; any JSON value is taken for it`);
  }
  const options = readOptions(raw["options"]);
  return {
    kind: "user",
    ...readInput(name, raw),
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

function readInput(name: string, raw: Record<string, unknown>) {
  return {
    name,
    optional: raw["optional"] === true,
    ...(typeof raw["label"] === "string" ? { label: raw["label"] } : {}),
    ...(typeof raw["description"] === "string" ? { description: raw["description"] } : {}),
    ...(raw["hidden"] === true ? { hidden: true as const } : {}),
    ...(raw["disabled"] === true ? { disabled: true as const } : {}),
    ...(raw["reloadProps"] === true ? { reloadProps: true as const } : {}),
  };
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** Choices, each a value, `{ label, value }` or `{ __lv: { label, value } }`; `undefined` when it is no list. */
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
