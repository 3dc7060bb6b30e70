import type { SourceRecord } from "../../../api/sources.ts";
import { askingForProps } from "../../props/ask-props.ts";
import { typedProps } from "../../props/typed-props.ts";
import { askedCode } from "../../props/asked-component.ts";
import { deployedBefore, mayDeployAnother, noteDeployed } from "../../code/deployed-before.ts";
import { codeOf, additionParams, pickComponent } from "../../code/component-target.ts";
import { type ProcessFlags, processLimits } from "../../code/limit-flags.ts";
import { settingsOf } from "../../code/setting-flags.ts";
import { type CodeFlags, givenEnv, givenProps } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { printLine, printNote, printRecord } from "../../reporter.ts";
import { refuseForComponent, refuseForWorkflow } from "../refuse-flags.ts";
import { type StandFlags, printSent, sendWorkflow } from "../../workflows/deploy-workflow.ts";
import { readWorkflowFolder, workflowFolderOf } from "../../workflows/folder.ts";

export interface DeployFlags extends CodeFlags, ProcessFlags, StandFlags {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly new?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Without a target, the user picks from the registries. */
export async function deploy(cli: CliContext, target: string | undefined, flags: DeployFlags): Promise<number> {
  const workflow = target === undefined ? undefined : await workflowFolderOf(target);
  if (workflow !== undefined) return deployFolder(cli, workflow, flags);
  refuseForComponent(flags, target ?? "your choice");
  const [props, env, imports] = [await givenProps(flags), await givenEnv(flags), await additionParams(flags)];
  const given = target === undefined ? undefined : await codeOf(target);
  const client = await connect(cli);
  const before = await deployedBefore(cli, client, { target, name: flags.name });
  if (before !== undefined && !(await mayDeployAnother(cli, before, { target, flags }))) return 0;
  const code = { ...(given ?? (await codeOf(await pickComponent(cli, client, flags)))), ...imports, env };
  const request = { ...code, ...settingsOf(flags), name: flags.name, slug: flags.slug };
  const component = askedCode(client, code);
  const source = await askingForProps(cli, flags, {
    props: await typedProps(component, props, flags),
    send: (configured) => client.sources.deploy({ ...request, configured_props: configured }),
    component,
    isGuided: true,
  });
  await noteDeployed(cli, target, source);
  return printRecord(cli, source, () => printDeployed(cli, source));
}

async function deployFolder(cli: CliContext, path: string, flags: DeployFlags): Promise<number> {
  refuseForWorkflow(flags, path);
  const [folder, env, limits] = [await readWorkflowFolder(path), await givenEnv(flags), processLimits(flags)];
  const client = await connect(cli);
  const sent = await sendWorkflow(cli, client, { folder, flags, env, name: flags.name, slug: flags.slug, isNew: flags.new, limits });
  return printRecord(cli, sent.workflow, () => printSent(cli, sent));
}

function printDeployed(cli: CliContext, source: SourceRecord): void {
  const { id, name_slug: slug, endpoint_url: endpoint } = source;
  printWarnings(cli, source);
  printLine(cli, `Deployed ${slug} (${id})`);
  if (endpoint !== undefined) printLine(cli, `Endpoint: ${endpoint}`);
  printNote(cli, `pd events -f ${slug} follows its events, pd logs ${slug} its logs`);
}

export function printWarnings(cli: CliContext, { warnings = [], problems = [] }: SourceRecord): void {
  for (const warning of [...warnings, ...problems]) printNote(cli, `Warning: ${warning}`);
}
