import { structuredPatch } from "diff";
import { type JsonObject, type JsonValue, isJsonObject, isSameJson } from "../domain/json.ts";
import { text } from "./reporter.ts";

/** What travels beside code and plain values. */
export interface TransferWishes {
  readonly secrets: boolean;
  readonly state: boolean;
  /** The newest so many. */
  readonly events: number;
}

/** What a transfer would do about one source. */
export interface PlannedTransfer {
  readonly slug: string;
  readonly kind: "create" | "update" | "unchanged";
  /** Lines that tell what changes; they begin with `+`, `-`, `~` or a blank. */
  readonly changes: readonly string[];
  /** What is sent to the server. */
  readonly request: JsonObject;
  /** Props that can be given; `undefined`: that is not known. */
  readonly propNames: readonly string[] | undefined;
  /** Values that stay behind, so that they have to be there already or be given. */
  readonly withheld: readonly string[];
}

/** Compares a source as it comes with the one of its slug, as far as both are known. */
export function planTransfer(from: JsonObject, to: JsonObject | undefined): PlannedTransfer {
  const { version: _version, withheld_props: withheldProps, withheld_env: withheldEnv, secret_props: secretProps, prop_names: propNames, ...request } = from;
  const withheld = [...textsOf(withheldProps), ...textsOf(withheldEnv).map((name) => `--env ${name}`)];
  const slug = text(from, "slug");
  const shared = { slug, request, propNames: propNames === undefined ? undefined : textsOf(propNames) };
  if (to === undefined) return { ...shared, kind: "create", changes: [], withheld };
  const hidden = new Set([...textsOf(secretProps), ...textsOf(to["secret_props"])]);
  const changes = [
    ...memberChange("name", to["name"], from["name"]),
    ...memberChange("active", to["active"], from["active"]),
    ...(from["max_concurrency"] === undefined ? [] : memberChange("max concurrency", to["max_concurrency"], from["max_concurrency"])),
    ...(from["allow_run"] === undefined ? [] : memberChange("allow run", to["allow_run"], from["allow_run"])),
    ...codeChanges(objectOf(to["component"]), objectOf(from["component"])),
    ...membersChanges("prop", withheldOut(to, "configured_props", from), objectOf(from["configured_props"]), hidden),
    ...membersChanges("package", objectOf(to["packages"]), objectOf(from["packages"])),
    ...(from["state"] === undefined ? [] : membersChanges("state", objectOf(to["state"]), objectOf(from["state"]))),
    ...(Object.keys(objectOf(from["env"])).length === 0 ? [] : membersChanges("env", objectOf(to["env"]), objectOf(from["env"]))),
  ];
  return { ...shared, kind: changes.length === 0 ? "unchanged" : "update", changes, withheld: [] };
}

/** Values that stay where they are are no difference. */
function withheldOut(to: JsonObject, name: string, from: JsonObject): JsonObject {
  const kept = new Set(textsOf(from["withheld_props"]));
  return Object.fromEntries(Object.entries(objectOf(to[name])).filter(([key]) => !kept.has(key)));
}

function memberChange(name: string, before: JsonValue | undefined, after: JsonValue | undefined): string[] {
  return isSameJson(before, after) ? [] : [`~ ${name}: ${shown(before)} → ${shown(after)}`];
}

/** Secrets and variables are told to change, and never shown. */
function membersChanges(label: string, ...[before, after, hidden]: [JsonObject, JsonObject, ReadonlySet<string>?]): string[] {
  const value = (name: string, given: JsonValue | undefined): string => (label === "env" || hidden?.has(name) === true ? "…" : shown(given));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted((a, b) => (a < b ? -1 : 1));
  return names.flatMap((name) => {
    if (isSameJson(before[name], after[name])) return [];
    if (before[name] === undefined) return [`+ ${label} ${name}: ${value(name, after[name])}`];
    // What the other side has beside what is sent stays there, but for the store, which is replaced.
    if (after[name] === undefined) return label === "state" ? [`- ${label} ${name}: ${value(name, before[name])}`] : [];
    return [`~ ${label} ${name}: ${value(name, before[name])} → ${value(name, after[name])}`];
  });
}

function codeChanges(before: JsonObject, after: JsonObject): string[] {
  const [old, next] = [filesOf(before), filesOf(after)];
  const paths = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  return paths.flatMap((path) => {
    if (old[path] === next[path]) return [];
    const { hunks } = structuredPatch(path, path, old[path] ?? "", next[path] ?? "", "", "", { context: 2 });
    const sign = old[path] === undefined ? "+" : next[path] === undefined ? "-" : "~";
    return [`${sign} ${path}`, ...hunks.flatMap(({ lines }) => lines.map((line) => `    ${line}`))];
  });
}

function filesOf(component: JsonObject): Record<string, string> {
  const files = Object.fromEntries(Object.entries(objectOf(component["files"])).map(([path, content]) => [path, String(content)]));
  const before = Array.isArray(component["imports"]) ? component["imports"].filter(isJsonObject) : [];
  for (const imported of before) for (const [path, content] of Object.entries(filesOf(imported))) files[`before it: ${path}`] = content;
  return component["path"] === undefined ? files : { ...files, [text(component, "path")]: text(component, "code") };
}

function shown(value: JsonValue | undefined): string {
  const json = JSON.stringify(value ?? null);
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
