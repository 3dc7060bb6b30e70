import { join } from "node:path";
import type { WorkflowRecord } from "../../api/workflows.ts";
import { differenceOf } from "../../domain/text-difference.ts";
import { fileLines } from "../transfer/transfer-plan.ts";
import { readWorkflowFolder } from "../workflows/folder.ts";
import type { WorkflowEntry } from "./project-schema.ts";
import { type Around, NOTHING, type Step, accountNamed, says } from "./step.ts";

/** What has to happen so that the workflow is as its entry and its folder say. */
export async function planWorkflow(around: Around, slug: string, entry: WorkflowEntry): Promise<Step> {
  const { client, folder } = around;
  const { files } = await readWorkflowFolder(join(folder, entry.folder));
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
    ...(entry.sources === undefined ? {} : { sources: entry.sources }),
    ...(entry.schedules === undefined ? {} : { schedules: entry.schedules }),
  };
  if (before === undefined)
    return { kind: "workflow", name: slug, action: "create", changes: [`  ${entry.folder}`], perform: () => client.workflows.deploy({ ...request, slug }) };
  const { ".workflow.state": _theirs, ...there } = (await client.workflows.files(before.id)).files;
  const changes = [...fileLines(differenceOf(there, own)), ...restChanges(before, request)];
  if (changes.length === 0) return { kind: "workflow", name: slug, action: "unchanged", changes, perform: NOTHING };
  const perform = (): Promise<unknown> => client.workflows.update(before.id, { ...request, if_version: before.version, keep_slug: true });
  return { kind: "workflow", name: slug, action: "update", changes, perform };
}

interface Rest {
  readonly name: string;
  readonly active: boolean;
  readonly accounts: Record<string, string>;
  readonly env?: Readonly<Record<string, string>>;
}

/** The server tells names of variables, and not what they hold. */
function restChanges(before: WorkflowRecord, { name, active, accounts, env = {} }: Rest): readonly string[] {
  const missing = Object.keys(env).filter((variable) => !before.env.includes(variable));
  return [
    ...(before.name === name ? [] : [`~ name: ${JSON.stringify(before.name)} → ${JSON.stringify(name)}`]),
    ...(before.active === active ? [] : [`~ active: ${before.active} → ${active}`]),
    ...(says(before.accounts, accounts) ? [] : [`~ accounts: ${Object.keys(accounts).join(", ")}`]),
    ...missing.map((variable) => `+ env ${variable}: …`),
  ];
}
