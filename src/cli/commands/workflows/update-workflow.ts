import type { WorkflowRecord } from "../../../api/workflows.ts";
import { PdError } from "../../../domain/errors.ts";
import { type ProcessFlags, processLimits } from "../../code/limit-flags.ts";
import { type CodeFlags, givenEnv } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed, noHooks } from "../../deployed.ts";
import { refuseForWorkflow } from "../refuse-flags.ts";
import { printLine, printNote, printRecord } from "../../reporter.ts";
import { type StandFlags, standOf, unusedIds } from "../../workflows/deploy-workflow.ts";
import { readWorkflowFolder, workflowFolderOf } from "../../workflows/folder.ts";

interface WorkflowUpdateFlags extends CodeFlags, ProcessFlags, StandFlags {
  readonly latest?: boolean | undefined;
  readonly code?: string | undefined;
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly activate?: boolean | undefined;
  readonly deactivate?: boolean | undefined;
  readonly force?: boolean | undefined;
}

/** Undefined for a source. */
export async function workflowNamed(cli: CliContext, name: string): Promise<WorkflowRecord | undefined> {
  const client = await connect(cli);
  const found = await findDeployed(client, name);
  return found.kind === "workflow" ? found.record : undefined;
}

export async function updateWorkflow(cli: CliContext, before: WorkflowRecord, flags: WorkflowUpdateFlags): Promise<number> {
  if (flags.activate === true && flags.deactivate === true)
    throw new PdError("PD_BAD_INPUT", "Cannot both activate and deactivate", { fix: "Give one of --activate and --deactivate" });
  if (flags.force === true) throw noHooks(before.name_slug);
  refuseForWorkflow(flags, before.name_slug);
  const files = flags.code === undefined ? undefined : await filesOf(flags.code);
  const env = await givenEnv(flags);
  const active = flags.activate === true ? true : flags.deactivate === true ? false : undefined;
  const limits = processLimits(flags);
  const stand = standOf(flags);
  const stands = Object.values(stand).some((given) => Object.keys(given).length > 0);
  const naming = { ...(flags.name === undefined ? {} : { name: flags.name, keep_slug: true }), ...(flags.slug === undefined ? {} : { slug: flags.slug }) };
  const isNamed = Object.keys(naming).length > 0;
  if (files === undefined && !isNamed && active === undefined && Object.keys(limits).length === 0 && Object.keys(env).length === 0 && !stands)
    throw new PdError("PD_BAD_INPUT", `Cannot update ${before.name_slug}: nothing to change is given`, {
      fix: "Give --code <folder>, --name, --slug, --env, --map, --account, --source, --schedule, --allow-run, --allow-addons, --memory, --timeout, --activate or --deactivate",
    });
  const client = await connect(cli);
  const updated = await client.workflows.update(before.id, { files, ...naming, env, active, ...limits, ...stand });
  return printRecord(cli, updated, () => {
    for (const warning of [...updated.warnings, ...unusedIds(stand, updated)]) printNote(cli, `Warning: ${warning}`);
    printLine(cli, `Updated ${updated.name_slug} (${updated.id}), version ${updated.version}`);
  });
}

async function filesOf(target: string): Promise<Record<string, string>> {
  const folder = await workflowFolderOf(target);
  if (folder === undefined) throw new PdError("PD_BAD_INPUT", `Cannot use ${target} as the files of a workflow: expected a folder with a workflow.yaml`);
  return (await readWorkflowFolder(folder)).files;
}
