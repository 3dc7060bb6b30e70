import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WorkflowRecord } from "../../api/workflows.ts";
import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import { differenceOf } from "../../domain/text/text-difference.ts";
import { makeFolder } from "../../system/home/make-folder.ts";
import type { CliContext } from "../context.ts";
import { printJson, printLine, printNote } from "../reporter.ts";
import { hostedFolder } from "../transfer/hosted-workflow.ts";
import { PLAN_SIGNS, fileLines, memberChange } from "../transfer/transfer-plan.ts";
import { type StandFlags, standOf } from "./deploy-workflow.ts";

export interface WorkflowTransfer {
  readonly id: string;
  readonly flags: StandFlags & { readonly dryRun?: boolean | undefined };
  readonly env: Record<string, string>;
}

export interface PlannedWorkflow {
  readonly slug: string;
  readonly kind: "create" | "update" | "unchanged";
  carryOut(): Promise<void>;
}

/** Between our servers, with the same id and the target's accounts. Variables must be given. */
export async function planWorkflow(
  cli: CliContext,
  { origin, target }: { origin: Client; target: Client },
  { id, flags, env }: WorkflowTransfer,
): Promise<PlannedWorkflow> {
  const from = await origin.workflows.get(id);
  const { files } = await origin.workflows.files(from.id);
  const before = await known(target, from);
  const there = before === undefined ? {} : (await target.workflows.files(before.id)).files;
  const changes = [...recordChanges(from, before, Object.keys(env)), ...fileLines(differenceOf(there, files))];
  const kind = before === undefined ? "create" : changes.length === 0 ? "unchanged" : "update";
  const withheld = from.env.filter((name) => !(name in env) && before?.env.includes(name) !== true).map((name) => `--env ${name}`);
  if (!cli.isJson) {
    printLine(cli, `${PLAN_SIGNS[kind]} ${from.name_slug}`);
    for (const line of changes) printLine(cli, `  ${line}`);
    if (withheld.length > 0) printLine(cli, `  ! not transferred: ${withheld.join(", ")} (give them with --env)`);
  } else if (flags.dryRun === true) printJson(cli, { workflow: from.name_slug, changes, withheld, done: false });
  return {
    slug: from.name_slug,
    kind,
    async carryOut() {
      const request = { files: { ...files, ".workflow.state": `id: ${from.id}\n` }, name: from.name, active: from.active, env, ...standOf(flags) };
      const after = await (before === undefined ? target.workflows.deploy(request) : target.workflows.update(before.id, request));
      if (cli.isJson) return printJson(cli, after);
      for (const warning of after.warnings) printNote(cli, `Warning: ${warning}`);
      printLine(cli, `${before === undefined ? "Created" : "Updated"} ${after.name_slug} (${after.id})`);
    },
  };
}

function recordChanges(from: WorkflowRecord, before: WorkflowRecord | undefined, env: readonly string[]): readonly string[] {
  const given = env.map((name) => `${before?.env.includes(name) === true ? "~" : "+"} env ${name}: …`);
  if (before === undefined) return given;
  return [...memberChange("name", before.name, from.name), ...memberChange("active", before.active, from.active), ...given];
}

/** Finds the workflow by id or slug. */
async function known(client: Client, { id, name_slug: slug }: WorkflowRecord): Promise<WorkflowRecord | undefined> {
  for (const name of [id, slug]) {
    const found = await client.workflows.get(name).catch((error: unknown) => {
      if (error instanceof PdError && error.code === "PD_WORKFLOW_NOT_FOUND") return undefined;
      throw error;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

interface HostedPull {
  readonly id: string;
  readonly orgId: string | undefined;
  readonly isDry: boolean;
}

/** The new folder is not deployed. */
export async function writeHostedWorkflow(cli: CliContext, origin: Client, { id, orgId, isDry }: HostedPull): Promise<void> {
  const query = orgId === undefined ? "" : `?org_id=${encodeURIComponent(orgId)}`;
  const told = await origin.connection.request({ method: "GET", path: `/v1/workflows/${encodeURIComponent(id)}${query}` });
  const { name, files, missing } = hostedFolder(id, told);
  if ((await stat(name).catch(() => undefined)) !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot write ${name}: it exists`, { fix: "Move it away, or pull elsewhere" });
  if (!isDry)
    for (const [path, text] of Object.entries(files)) {
      await makeFolder(dirname(join(name, path)));
      await writeFile(join(name, path), text);
    }
  if (cli.isJson) return printJson(cli, { folder: name, files: Object.keys(files), missing: [...missing], ...(isDry ? { done: false } : {}) });
  printLine(cli, `${isDry ? "Would write" : "Wrote"} ${name} with ${Object.keys(files).length} files`);
  for (const one of missing) printLine(cli, `  ! ${one}`);
  if (!isDry) printNote(cli, `Deploy it with: pd deploy ${name}`);
}
