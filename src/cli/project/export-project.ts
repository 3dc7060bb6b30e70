import { requirePlainPath } from "../code/server-files.ts";
import type { SourceRecord } from "../../api/sources.ts";
import type { WorkflowRecord } from "../../api/workflows.ts";
import type { JsonObject, JsonValue } from "../../domain/text/json.ts";
import { isJsonObject } from "../../domain/text/json.ts";
import { isTriggerId } from "../../domain/ids.ts";
import { slug as slugSchema } from "../../api/declare.ts";
import { settingsIn } from "../../domain/source-settings/read-settings.ts";
import { StoredValues } from "./stored-values.ts";
import { escaped } from "./read-project.ts";
import type { ProjectContext } from "./step.ts";

export interface ExportedProject {
  readonly project: JsonObject;
  readonly files: Readonly<Record<string, string>>;
  /** Replace secrets. The user sets them for `pd apply`. */
  readonly variables: readonly string[];
  /** Facts that the file cannot express. */
  readonly warnings: readonly string[];
}

interface Collected {
  readonly files: Record<string, string>;
  readonly variables: Set<string>;
  readonly warnings: string[];
}

function variableFor({ variables }: Collected, slug: string, name: string): string {
  const plain = `${slug}_${name}`.replaceAll(/\W/g, "_").toUpperCase();
  const wanted = /^\d/.test(plain) ? `_${plain}` : plain;
  let free = wanted;
  for (let count = 2; variables.has(free); count++) free = `${wanted}_${count}`;
  variables.add(free);
  return `\${env:${free}}`;
}

/** From the server. Throws PD_BAD_INPUT. */
function addFile({ files }: Collected, slug: string, [path, text]: readonly [string, string]): void {
  requirePlainPath(`${slugSchema.safeParse(slug).success ? slug : ""}/${path}`);
  files[`${slug}/${path}`] = text;
}

export async function exportProject(context: ProjectContext, isWanted: (record: SourceRecord | WorkflowRecord) => boolean): Promise<ExportedProject> {
  const { client } = context;
  const into: Collected = { files: {}, variables: new Set(), warnings: [] };
  const stores = await client.dataStores.list();
  const delivered = await deliveriesOf(context, { into, isWanted });
  const sources: JsonObject = {};
  const workflows: JsonObject = {};
  for (const record of context.sources.filter(isWanted)) sources[record.name_slug] = { ...(await sourceEntry(context, record, into)), ...delivered(record.id) };
  for (const record of context.workflows.filter(isWanted))
    workflows[record.name_slug] = { ...(await workflowEntry(context, record, into)), ...delivered(record.id) };
  for (const name of doubled(context.webhooks.map(({ id, name }) => name ?? id)))
    into.warnings.push(`several webhooks have the name ${name}: pd.yaml contains one of them (pd webhooks update <id> --name gives another name)`);
  const webhooks = Object.fromEntries(
    context.webhooks.map(({ id, name, url, description, active }) => [name ?? id, withoutEmpty({ url, description, active: active ? undefined : false })]),
  );
  const project = withoutEmpty({ data_stores: stores.map(({ name }) => name), webhooks, sources, workflows });
  return { project, files: into.files, variables: [...into.variables], warnings: into.warnings };
}

function doubled(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, index) => names.indexOf(name) !== index));
}

async function deliveriesOf(
  { client, sources, workflows, webhooks }: ProjectContext,
  { into, isWanted }: { into: Collected; isWanted: (record: SourceRecord | WorkflowRecord) => boolean },
): Promise<(emitter: string) => JsonObject> {
  const names = new Map([...sources, ...workflows].map(({ id, name_slug: slug }) => [id, slug]));
  for (const { id, name } of webhooks) names.set(id, name ?? id);
  const all = await client.subscriptions.list();
  const wanted = new Set<string>([...sources, ...workflows].filter(isWanted).map(({ id }) => id));
  const cannotSay = (from: string, listener: string): boolean => {
    if (wanted.has(from)) return false;
    if (listener.startsWith("wh_")) return !names.has(from);
    // A workflow's own file has its triggers.
    return wanted.has(listener) && !(listener.startsWith("p_") && (isTriggerId(from) || names.has(from)));
  };
  for (const { emitter_id: from, listener_id: listener } of all)
    if (cannotSay(from, listener))
      into.warnings.push(`${names.get(listener) ?? listener} listens to ${from}, which pd.yaml cannot express: subscribe it after pd apply`);
  return (emitter) => {
    const to = all
      .filter(({ emitter_id: from, listener_id: listener }) => from === emitter && names.has(listener))
      .map(({ listener_id: listener, event_name: event }): JsonValue =>
        event === "" ? (names.get(listener) ?? "") : { to: names.get(listener) ?? "", event },
      );
    return to.length === 0 ? {} : { deliver_to: to };
  };
}

async function sourceEntry({ client, accounts }: ProjectContext, record: SourceRecord, into: Collected): Promise<JsonObject> {
  const { name_slug: slug, configurable_props: declared } = record;
  const exported = await client.sources.export(record.id, {});
  if (exported.component.imports !== undefined && exported.component.imports.length > 0)
    into.warnings.push(`${slug} has modules loaded before it (--import), which pd.yaml cannot express`);
  const props: JsonObject = {};
  const kept: JsonObject = { ...record.configured_props, ...exported.configured_props };
  const own = new Set(new StoredValues(declared).dropped(kept, {}));
  for (const { name } of declared) {
    const value = record.configured_props[name];
    const account = isJsonObject(value) ? accounts.find(({ id }) => id === value["authProvisionId"]) : undefined;
    const known = exported.configured_props?.[name];
    if (account !== undefined) props[name] = `account:${account.name}`;
    else if (exported.withheld_props.includes(name)) props[name] = variableFor(into, slug, name);
    else if (known !== undefined && own.has(name)) props[name] = escaped(known);
  }
  const env = Object.fromEntries(record.env.map((name) => [name, variableFor(into, slug, name)]));
  return withoutEmpty({
    ...restOf(record),
    component: componentOf(record, exported.component, into),
    props,
    env,
    ...settingsIn(record),
  });
}

function componentOf(
  record: SourceRecord,
  code: { code: string; path?: string | undefined; files?: Record<string, string> | undefined },
  into: Collected,
): string {
  const { name_slug: slug, component_url: url, component_key: key, component_version: version, registry } = record;
  if (url !== undefined) return url;
  if (registry !== undefined && key !== undefined) return `${key}@${version}`;
  const path = code.path ?? "component.js";
  for (const [file, text] of Object.entries({ ...code.files, [path]: code.code })) addFile(into, slug, [file, text]);
  return `./${slug}/${path}`;
}

async function workflowEntry(context: ProjectContext, record: WorkflowRecord, into: Collected): Promise<JsonObject> {
  const { client, accounts } = context;
  const { name_slug: slug } = record;
  const { files: all, sources, stores, schedules } = await client.workflows.files(record.id);
  const { ".workflow.state": _own, ...files } = all;
  for (const [file, text] of Object.entries(files)) addFile(into, slug, [file, text]);
  const env = record.env.map((name) => [name, variableFor(into, slug, name)]);
  const named = Object.entries(record.accounts).map(([id, account]) => [id, `account:${accounts.find((one) => one.id === account)?.name ?? account}`]);
  const slugs = new Map([...context.sources, ...context.workflows].map((one) => [one.id, one.name_slug]));
  const heard = Object.entries(sources).map(([id, word]): [string, string] => [id, slugs.get(word) ?? word]);
  const stand = { accounts: Object.fromEntries(named), sources: Object.fromEntries(heard), stores, schedules };
  const { allow_run, allow_addons, memory_mb, timeout_seconds } = record;
  const limits = { allow_run, allow_addons, memory_mb, timeout_seconds };
  return withoutEmpty({ ...restOf(record), folder: `./${slug}`, ...limits, env: Object.fromEntries(env), ...stand });
}

function restOf({ name, name_slug: slug, active }: SourceRecord | WorkflowRecord): JsonObject {
  return { name: name === slug ? undefined : name, active: active ? undefined : false };
}

function withoutEmpty(entry: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const says = (value: JsonValue | undefined): boolean => value !== undefined && value !== null && (typeof value !== "object" || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => says(value)));
}
