import { type ComponentCode, filesOfCode } from "../../domain/component/saved-component.ts";
import { rightsIn, settingsIn } from "../../domain/source-settings/read-settings.ts";
import { type Right, newRights } from "../../domain/account/rights.ts";
import { type FileChange, differenceOf } from "../../domain/text/text-difference.ts";
import type { CarriedSource, ExportedRecord } from "../../api/transfer.ts";
import { type JsonObject, type JsonValue, isSameJson, ownMember } from "../../domain/text/json.ts";
import { plainLine } from "../terminal-text.ts";

export interface TransferWishes {
  readonly secrets: boolean;
  readonly state: boolean;
  readonly events: number;
}

export const PLAN_SIGNS = { create: "+", update: "~", unchanged: "=" } as const;

export interface PlannedTransfer {
  readonly slug: string;
  readonly kind: "create" | "update" | "unchanged";
  /** Each starts with `+`, `-`, `~` or a blank. */
  readonly changes: readonly string[];
  /** New here, and all from the other server. */
  readonly rights: readonly Right[];
  readonly request: CarriedSource;
  readonly propNames: readonly string[];
  /** The user must give these values. */
  readonly withheld: readonly string[];
}

export function planTransfer(from: ExportedRecord, to: ExportedRecord | undefined): PlannedTransfer {
  const { version: _version, withheld_props: withheldProps, withheld_env: withheldEnv, secret_props: secretProps, prop_names: propNames, ...request } = from;
  const rights = newRights(to === undefined ? [] : rightsOf(to), rightsOf(from));
  const shared = { slug: from.slug, request, propNames, rights };
  if (to === undefined) return { ...shared, kind: "create", changes: [], withheld: [...withheldProps, ...withheldEnv.map((name) => `--env ${name}`)] };
  const hidden = new Set([...secretProps, ...to.secret_props]);
  const kept = new Set(withheldProps);
  // Values that are not transferred do not count.
  const before = Object.fromEntries(Object.entries(to.configured_props ?? {}).filter(([name]) => !kept.has(name)));
  const { env = {}, state } = from;
  const changes = [
    ...memberChange("name", to.name, from.name),
    ...memberChange("active", to.active, from.active),
    ...Object.entries(settingsIn(from)).flatMap(([name, value]) => memberChange(name.replaceAll("_", " "), ownMember(settingsIn(to), name), value)),
    ...codeChanges(to.component, from.component),
    ...membersChanges("prop", before, from.configured_props ?? {}, hidden),
    ...membersChanges("package", to.packages ?? {}, from.packages ?? {}),
    ...(state === undefined ? [] : membersChanges("state", to.state ?? {}, state)),
    ...(Object.keys(env).length === 0 ? [] : membersChanges("env", to.env ?? {}, env)),
  ];
  return { ...shared, kind: changes.length === 0 ? "unchanged" : "update", changes, withheld: [] };
}

function rightsOf(record: ExportedRecord): readonly Right[] {
  const {
    component: { imports = [] },
    env = {},
  } = record;
  return [
    ...rightsIn(settingsIn(record)),
    ...imports.map(({ path = "a module" }) => ({ kind: "imports", what: plainLine(path) }) as const),
    ...Object.keys(env).map((name) => ({ kind: "env", what: plainLine(name) }) as const),
  ];
}

export function memberChange(name: string, before: JsonValue | undefined, after: JsonValue | undefined): string[] {
  return isSameJson(before, after) ? [] : [`~ ${plainLine(name)}: ${shown(before)} → ${shown(after)}`];
}

/** Never shows values of secrets and variables. */
function membersChanges(label: string, ...[before, after, hidden]: [JsonObject, JsonObject, ReadonlySet<string>?]): string[] {
  const value = (name: string, given: JsonValue | undefined): string => (label === "env" || hidden?.has(name) === true ? "…" : shown(given));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted((a, b) => (a < b ? -1 : 1));
  return names.flatMap((member) => {
    const [old, next] = [ownMember(before, member), ownMember(after, member)];
    const name = plainLine(member);
    if (isSameJson(old, next)) return [];
    if (old === undefined) return [`+ ${label} ${name}: ${value(member, next)}`];
    // The target keeps other members, except in `state`, which is replaced.
    if (next === undefined) return label === "state" ? [`- ${label} ${name}: ${value(member, old)}`] : [];
    return [`~ ${label} ${name}: ${value(member, old)} → ${value(member, next)}`];
  });
}

type CarriedCode = Omit<CarriedSource["component"], "imports"> & Partial<Pick<CarriedSource["component"], "imports">>;

function codeChanges(before: CarriedCode, after: CarriedCode): string[] {
  return fileLines(differenceOf(filesOfCode(asCode(before)), filesOfCode(asCode(after))));
}

const SIGNS = { added: "+", removed: "-", changed: "~" };

export function fileLines(changes: readonly FileChange[]): string[] {
  return changes.flatMap(({ path, kind, lines }) => [`${SIGNS[kind]} ${plainLine(path)}`, ...lines.map((line) => `    ${plainLine(line)}`)]);
}

/** The server has the same default path. */
function asCode({ path = "component.js", code: text, files = {}, imports = [] }: CarriedCode): ComponentCode {
  return { path, text, files, imports: imports.map(asCode) };
}

function shown(value: JsonValue | undefined): string {
  const json = JSON.stringify(value ?? null);
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
