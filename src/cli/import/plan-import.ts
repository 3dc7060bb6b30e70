import type { WorkflowPlanRecord, WorkflowRecord } from "../../api/workflows.ts";
import type { Client } from "../../client/client.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { isSameJson } from "../../domain/text/json.ts";
import { knownWorkflow, type Stand } from "../workflows/deploy-workflow.ts";
import type { WorkflowFolder } from "../workflows/folder.ts";
import type { ExportedWorkflow } from "./exported-workflow.ts";

export interface PlannedImport {
  readonly exported: ExportedWorkflow;
  /** Omitted for a missing or unreadable folder. */
  readonly plan?: WorkflowPlanRecord;
  readonly before?: WorkflowRecord;
  /** Deployed with the same files. */
  readonly isSame: boolean;
  /** Problems that no choice can fix. */
  readonly problems: readonly string[];
}

export async function planImport(client: Client, exported: ExportedWorkflow, env: Readonly<Record<string, string>>): Promise<PlannedImport> {
  const { folder } = exported;
  if (folder === undefined) return { exported, isSame: false, problems: [] };
  const before = folder.id === undefined ? undefined : await knownWorkflow(client, folder.id);
  const isSame = before !== undefined && (await isSameFolder(client, before, folder));
  try {
    const plan = await client.workflows.plan({ files: folder.files, env });
    const problems = plan.problems.map(({ code, message, fix }) => (fix === undefined || code === "PD_BUILD_FAILED" ? message : `${message} (${fix})`));
    return { exported, plan, ...(before === undefined ? {} : { before }), isSame, problems };
  } catch (error) {
    if (!(error instanceof PdError) || error.status >= 500) throw error;
    return { exported, ...(before === undefined ? {} : { before }), isSame, problems: [messageOf(error)] };
  }
}

async function isSameFolder(client: Client, before: WorkflowRecord, folder: WorkflowFolder): Promise<boolean> {
  const { ".workflow.state": _own, ...files } = folder.files;
  return isSameJson((await client.workflows.files(before.id)).files, files);
}

export interface Chosen {
  readonly stand: Stand;
  readonly env: Readonly<Record<string, string>>;
}

/** Choices for this workflow's ids and variables. */
export function choiceFor({ plan, before }: PlannedImport, { stand, env }: Chosen): Stand & { readonly env: Record<string, string> } {
  const ids = new Set(plan?.foreign.map(({ id }) => id));
  const own = <Value>(chosen: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(chosen).filter(([id]) => ids.has(id)));
  const read = new Set([...(plan?.variables ?? []), ...(before?.env ?? [])]);
  return {
    accounts: own(stand.accounts),
    sources: own(stand.sources),
    stores: own(stand.stores),
    schedules: own(stand.schedules),
    env: Object.fromEntries(Object.entries(env).filter(([name]) => read.has(name))),
  };
}

export function missingVariables({ plan, before }: PlannedImport, env: Readonly<Record<string, string>>): readonly string[] {
  return (plan?.variables ?? []).filter((name) => env[name] === undefined && before?.env.includes(name) !== true);
}

export function missingAccounts(
  { plan, before }: PlannedImport,
  stand: Stand,
): readonly { readonly id: string; readonly app: string; readonly usedBy: readonly string[] }[] {
  const chosen = new Set(before?.foreign.filter(({ here }) => here !== undefined).map(({ id }) => id));
  return (plan?.foreign ?? []).flatMap(({ id, kind, app = "", here, used_by: usedBy }) =>
    kind === "account" && here === undefined && stand.accounts[id] === undefined && !chosen.has(id) ? [{ id, app, usedBy }] : [],
  );
}

export function inOrder(plans: readonly PlannedImport[]): readonly PlannedImport[] {
  const left = [...plans];
  const ordered: PlannedImport[] = [];
  while (left.length > 0) {
    const ids = new Set(left.flatMap(({ exported }) => exported.folder?.id ?? []));
    const next = left.findIndex(
      ({ exported, plan }) => !(plan?.foreign ?? []).some(({ id, kind }) => kind === "source" && ids.has(id) && id !== exported.folder?.id),
    );
    // In a circle, any may be first.
    ordered.push(...left.splice(Math.max(0, next), 1));
  }
  return ordered;
}

export function stateWords(planned: PlannedImport, { stand, env }: Chosen): string {
  const { exported, plan, before, isSame, problems } = planned;
  if (exported.folder === undefined) return exported.left ?? "nothing to deploy";
  if (problems.length > 0) return "cannot be deployed as it is";
  const accounts = missingAccounts(planned, stand);
  const variables = missingVariables(planned, env);
  const needs = [
    ...(accounts.length === 0 ? [] : [`needs accounts of ${[...new Set(accounts.map(({ app }) => app))].join(", ")}`]),
    ...(variables.length === 0 ? [] : [`needs variables ${variables.join(", ")}`]),
  ];
  const isChosen = (before?.foreign ?? []).some(({ id }) => [stand.accounts, stand.stores, stand.sources, stand.schedules].some((chosen) => id in chosen));
  const known = isSame && !isChosen ? "here already, unchanged" : "ready, replaces what is here";
  const words = needs.length > 0 ? needs.join("; ") : before === undefined ? "ready" : known;
  return plan?.inactive === true ? `${words}; inactive in the export` : words;
}
