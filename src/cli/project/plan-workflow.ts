import { join } from "node:path";
import type { WorkflowRecord } from "../../api/workflows.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isSameJson } from "../../domain/text/json.ts";
import type { Right } from "../../domain/account/rights.ts";
import { differenceOf } from "../../domain/text/text-difference.ts";
import { plainLine } from "../terminal-text.ts";
import { fileLines } from "../transfer/transfer-plan.ts";
import { readWorkflowFolder } from "../workflows/folder.ts";
import type { WorkflowEntry } from "./project-schema.ts";
import { variablesIn } from "./read-project.ts";
import { type ProjectContext, NOTHING, type Step, accountNamed } from "./step.ts";

interface WantedWorkflow {
  readonly entry: WorkflowEntry;
  /** Before variables are filled in. */
  readonly written: WorkflowEntry;
}

interface WorkflowAround extends ProjectContext {
  /** Sources that will exist by then. */
  readonly created: readonly string[];
}

export async function planWorkflow(context: WorkflowAround, slug: string, { entry, written }: WantedWorkflow): Promise<Step> {
  const { client, folder, root } = context;
  const { files } = await readWorkflowFolder(join(folder, entry.folder), root);
  // The noted id may be another server's.
  const { ".workflow.state": _own, ...own } = files;
  const before = context.workflows.find(({ name_slug: known }) => known === slug);
  refuseUnused(slug, Object.keys(entry.accounts ?? {}), own["workflow.yaml"] ?? "");
  const accounts = Object.entries(entry.accounts ?? {}).map(([id, word]) => [
    id,
    accountNamed(context, word.replace(/^account:/, ""), `workflow ${slug}, account ${id}`).id,
  ]);
  const request = {
    files: own,
    name: entry.name ?? slug,
    active: entry.active ?? !IS_INACTIVE.test(own["workflow.yaml"] ?? ""),
    allow_run: entry.allow_run ?? false,
    allow_addons: entry.allow_addons ?? false,
    memory_mb: entry.memory_mb ?? null,
    timeout_seconds: entry.timeout_seconds ?? null,
    accounts: Object.fromEntries(accounts),
    ...(entry.env === undefined ? {} : { env: entry.env }),
    ...(entry.sources === undefined ? {} : { sources: sourcesOf(context, entry.sources) }),
    ...(entry.stores === undefined ? {} : { stores: entry.stores }),
    ...(entry.schedules === undefined ? {} : { schedules: entry.schedules }),
  };
  if (before === undefined)
    return {
      kind: "workflow",
      name: slug,
      action: "create",
      changes: [`  ${plainLine(entry.folder)}`],
      rights: rightsOf(written, () => true),
      perform: () => client.workflows.deploy({ ...request, slug }),
    };
  const known = await client.workflows.files(before.id, { secrets: true });
  const { ".workflow.state": _theirs, ...there } = known.files;
  const changes = [
    ...fileLines(differenceOf(there, own)),
    ...restChanges(before, { ...known, sources: sourcesOf(context, known.sources) }, request),
    ...unheard(context, before, entry.sources),
  ];
  if (changes.length === 0) return { kind: "workflow", name: slug, action: "unchanged", changes, perform: NOTHING };
  const perform = (): Promise<unknown> => client.workflows.update(before.id, { ...request, if_version: before.version, keep_slug: true });
  const isTold = (place: string): boolean => changes.some((line) => line.slice(2) === place || line.slice(2).startsWith(`${place}: `));
  const rights = rightsOf(written, isTold);
  return { kind: "workflow", name: slug, action: "update", changes, rights, perform };
}

/** The server forgets an account that no step uses, so it would be a change at every apply. */
function refuseUnused(slug: string, ids: readonly string[], file: string): void {
  const unused = ids.filter((id) => !file.includes(id));
  if (unused.length === 0) return;
  throw new PdError("PD_BAD_INPUT", `Cannot apply workflow ${slug}: no step of its workflow.yaml uses the account ${unused.join(", ")}`, {
    fix: "Give the ids that workflow.yaml has under auth, or take the line out of pd.yaml",
  });
}

/** Only the entry can start an inactive export. */
const IS_INACTIVE = /^inactive:\s*true\s*(?:#.*)?$/m;

/** `isTold`: the plan changes this place. */
function rightsOf(
  { env = {}, accounts = {}, sources = {}, allow_run: mayRun, allow_addons: mayLoad }: WorkflowEntry,
  isTold: (place: string) => boolean,
): readonly Right[] {
  return [
    ...(mayRun === true && isTold("allow_run") ? [{ kind: "programs", what: "" } as const] : []),
    ...(mayLoad === true && isTold("allow_addons") ? [{ kind: "addons", what: "" } as const] : []),
    ...Object.entries(env).flatMap(([name, value]): Right[] => {
      if (!isTold(`env ${name}`)) return [];
      const read = variablesIn(value);
      return read.length === 0
        ? [{ kind: "env", what: plainLine(name) }]
        : read.map((variable): Right => ({ kind: "variable", what: `${variable}, as env ${plainLine(name)}` }));
    }),
    ...Object.entries(accounts).flatMap(([id, word]): Right[] =>
      isTold(`account ${id}`) ? [{ kind: "account", what: `${plainLine(word.replace(/^account:/, ""))}, as ${plainLine(id)}` }] : [],
    ),
    ...Object.entries(sources).flatMap(([id, name]): Right[] => (isTold(`source ${id}`) ? [{ kind: "hears", what: plainLine(name) }] : [])),
  ];
}

/** Triggers whose source was missing, but exists now or will. */
function unheard(
  { sources, workflows, created }: WorkflowAround,
  { triggers }: WorkflowRecord,
  meant: Readonly<Record<string, string>> = {},
): readonly string[] {
  const names = new Set([...created, ...[...sources, ...workflows].flatMap(({ id, name, name_slug: slug }) => [id, name, slug])]);
  return triggers.flatMap(({ kind, id, emitter = "" }) =>
    kind === "events" && id === undefined && names.has(meant[emitter] ?? emitter) ? [`~ trigger ${emitter}: not subscribed yet`] : [],
  );
}

/** Maps slugs to ids, as the server stores them. */
function sourcesOf({ sources, workflows }: ProjectContext, named: Readonly<Record<string, string>>): Record<string, string> {
  const all = [...sources, ...workflows];
  return Object.fromEntries(Object.entries(named).map(([id, word]) => [id, all.find((record) => record.name_slug === word)?.id ?? word]));
}

interface Limits {
  readonly allow_run: boolean;
  readonly allow_addons: boolean;
  readonly memory_mb: number | null;
  readonly timeout_seconds: number | null;
}

interface Rest extends Limits {
  readonly name: string;
  readonly active: boolean;
  readonly accounts: Record<string, string>;
  readonly env?: Readonly<Record<string, string>>;
  readonly sources?: Readonly<Record<string, string>>;
  readonly stores?: Readonly<Record<string, string>>;
  readonly schedules?: Readonly<Record<string, JsonObject>>;
}

type Known = Awaited<ReturnType<ProjectContext["client"]["workflows"]["files"]>>;

function restChanges(
  before: WorkflowRecord,
  known: Known,
  { name, active, accounts, env = {}, sources = {}, stores = {}, schedules = {}, ...limits }: Rest,
): readonly string[] {
  const variables = Object.keys(env).filter((variable) => known.env?.[variable] !== env[variable]);
  const stands = (label: string, then: JsonObject, now: JsonObject): readonly string[] =>
    Object.keys(now)
      .filter((id) => !isSameJson(then[id], now[id]))
      .map((id) => `~ ${label} ${id}`);
  return [
    ...(before.name === name ? [] : [`~ name: ${JSON.stringify(before.name)} → ${JSON.stringify(name)}`]),
    ...(before.active === active ? [] : [`~ active: ${before.active} → ${active}`]),
    ...limitChanges(before, limits),
    // The server stores an account only where its id differs from the file's.
    ...stands("account", { ...Object.fromEntries(Object.keys(accounts).map((id) => [id, id])), ...known.accounts }, accounts),
    ...stands("source", known.sources ?? {}, sources),
    ...stands("data store", known.stores ?? {}, stores),
    ...stands("schedule", known.schedules ?? {}, schedules),
    ...variables.map((variable) => `${known.env?.[variable] === undefined ? "+" : "~"} env ${variable}: …`),
  ];
}

function limitChanges(before: WorkflowRecord, wanted: Limits): readonly string[] {
  const change = (name: string, then: boolean | number | undefined, now: boolean | number | null): readonly string[] => {
    const [left, right] = [String(then ?? "none"), String(now ?? "none")];
    return left === right ? [] : [`~ ${name}: ${left} → ${right}`];
  };
  return [
    ...change("allow_run", before.allow_run ?? false, wanted.allow_run),
    ...change("allow_addons", before.allow_addons ?? false, wanted.allow_addons),
    ...change("memory_mb", before.memory_mb, wanted.memory_mb),
    ...change("timeout_seconds", before.timeout_seconds, wanted.timeout_seconds),
  ];
}
