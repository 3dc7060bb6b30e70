import { join } from "node:path";
import type { WorkflowRecord } from "../../api/workflows.ts";
import { type JsonObject, isSameJson } from "../../domain/json.ts";
import { differenceOf } from "../../domain/text-difference.ts";
import { fileLines } from "../transfer/transfer-plan.ts";
import { readWorkflowFolder } from "../workflows/folder.ts";
import type { WorkflowEntry } from "./project-schema.ts";
import { type Around, NOTHING, type Step, accountNamed } from "./step.ts";

interface WorkflowAround extends Around {
  /** Slugs of the sources that are there by then. */
  readonly created: readonly string[];
}

/** What has to happen so that the workflow is as its entry and its folder say. */
export async function planWorkflow(around: WorkflowAround, slug: string, entry: WorkflowEntry): Promise<Step> {
  const { client, folder, root } = around;
  const { files } = await readWorkflowFolder(join(folder, entry.folder), root);
  // Which one it is on another server is none of this one's.
  const { ".workflow.state": _own, ...own } = files;
  const before = around.workflows.find(({ name_slug: known }) => known === slug);
  const accounts = Object.entries(entry.accounts ?? {}).map(([id, word]) => [
    id,
    accountNamed(around, word.replace(/^account:/, ""), `workflow ${slug}, account ${id}`).id,
  ]);
  const request = {
    files: own,
    name: entry.name ?? slug,
    active: entry.active ?? true,
    accounts: Object.fromEntries(accounts),
    ...(entry.env === undefined ? {} : { env: entry.env }),
    ...(entry.sources === undefined ? {} : { sources: sourcesOf(around, entry.sources) }),
    ...(entry.schedules === undefined ? {} : { schedules: entry.schedules }),
  };
  if (before === undefined)
    return { kind: "workflow", name: slug, action: "create", changes: [`  ${entry.folder}`], perform: () => client.workflows.deploy({ ...request, slug }) };
  const known = await client.workflows.files(before.id, { secrets: true });
  const { ".workflow.state": _theirs, ...there } = known.files;
  const changes = [
    ...fileLines(differenceOf(there, own)),
    ...restChanges(before, { ...known, sources: sourcesOf(around, known.sources) }, request),
    ...unheard(around, before, entry.sources),
  ];
  if (changes.length === 0) return { kind: "workflow", name: slug, action: "unchanged", changes, perform: NOTHING };
  const perform = (): Promise<unknown> => client.workflows.update(before.id, { ...request, if_version: before.version, keep_slug: true });
  return { kind: "workflow", name: slug, action: "update", changes, perform };
}

/** What was not there when the workflow was deployed, or is there no more, and is there by now, or will be. */
function unheard(
  { sources, workflows, created }: WorkflowAround,
  { triggers }: WorkflowRecord,
  meant: Readonly<Record<string, string>> = {},
): readonly string[] {
  const names = new Set([...created, ...[...sources, ...workflows].flatMap(({ id, name, name_slug: slug }) => [id, name, slug])]);
  return triggers.flatMap(({ kind, id, emitter = "" }) =>
    kind === "events" && id === undefined && names.has(meant[emitter] ?? emitter) ? [`~ trigger ${emitter}: it hears nothing of it`] : [],
  );
}

/** By ids, as the server keeps them; what is not there yet is named as it is. */
function sourcesOf({ sources, workflows }: Around, named: Readonly<Record<string, string>>): Record<string, string> {
  const all = [...sources, ...workflows];
  return Object.fromEntries(Object.entries(named).map(([id, word]) => [id, all.find((record) => record.name_slug === word)?.id ?? word]));
}

interface Rest {
  readonly name: string;
  readonly active: boolean;
  readonly accounts: Record<string, string>;
  readonly env?: Readonly<Record<string, string>>;
  readonly sources?: Readonly<Record<string, string>>;
  readonly schedules?: Readonly<Record<string, JsonObject>>;
}

/** What stands for ids, and variables, as the server keeps them. */
type Known = Awaited<ReturnType<Around["client"]["workflows"]["files"]>>;

function restChanges(before: WorkflowRecord, known: Known, { name, active, accounts, env = {}, sources = {}, schedules = {} }: Rest): readonly string[] {
  const variables = Object.keys(env).filter((variable) => known.env?.[variable] !== env[variable]);
  const stands = (label: string, then: JsonObject, now: JsonObject): readonly string[] =>
    Object.keys(now)
      .filter((id) => !isSameJson(then[id], now[id]))
      .map((id) => `~ ${label} ${id}`);
  return [
    ...(before.name === name ? [] : [`~ name: ${JSON.stringify(before.name)} → ${JSON.stringify(name)}`]),
    ...(before.active === active ? [] : [`~ active: ${before.active} → ${active}`]),
    ...stands("account", known.accounts ?? {}, accounts),
    ...stands("source", known.sources ?? {}, sources),
    ...stands("schedule", known.schedules ?? {}, schedules),
    ...variables.map((variable) => `${known.env?.[variable] === undefined ? "+" : "~"} env ${variable}: …`),
  ];
}
