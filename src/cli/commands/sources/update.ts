import type { Client } from "../../../client/client.ts";
import { askingForProps } from "../../props/ask-props.ts";
import { type CliContext, connect } from "../../context.ts";
import { PdError } from "../../../domain/errors.ts";
import { givenEnv, givenProps } from "../../code/prop-flags.ts";
import { printLine, printRecord } from "../../reporter.ts";
import { codeOf, additionParams } from "../../code/component-target.ts";
import { typedProps } from "../../props/typed-props.ts";
import { askedSource } from "../../props/asked-component.ts";
import { refuseForComponent } from "../refuse-flags.ts";
import { settingsOf } from "../../code/setting-flags.ts";
import { SETTING_NAMES, settingFlag } from "../../../domain/source-settings/settings.ts";
import { type DeployFlags, printWarnings } from "./deploy.ts";
import { latestCode } from "./update-latest.ts";
import { updateWorkflow, workflowNamed } from "../workflows/update-workflow.ts";

export interface UpdateFlags extends DeployFlags {
  readonly code?: string | undefined;
  readonly latest?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly activate?: boolean | undefined;
  readonly deactivate?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export async function update(cli: CliContext, source: string, flags: UpdateFlags): Promise<number> {
  const found = await workflowNamed(cli, source);
  if (found !== undefined) return updateWorkflow(cli, found, flags);
  refuseForComponent(flags, source);
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const given = await changeOf(flags, env);
  if (Object.keys(given).length === 0 && Object.keys(props).length === 0 && flags.latest !== true) {
    throw new PdError("PD_BAD_INPUT", `Cannot update ${source}: nothing to change is given`, {
      fix: `Give --code, --latest, --name, --slug, --prop, --env, ${SETTING_NAMES.map(settingFlag).join(", ")}, --activate or --deactivate`,
    });
  }
  const client = await connect(cli);
  const before = await client.sources.get(source);
  const latest = flags.latest === true ? await latestCode(cli, client, { source: before, flags }) : {};
  const changesNothing = latest !== undefined && [given, props, latest].every((part) => Object.keys(part).length === 0);
  if (latest === undefined || changesNothing) return cli.isJson ? printRecord(cli, before, () => {}) : 0;
  const change = { ...given, ...latest, ...(flags.force === true ? { force: true } : {}) };
  const component = askedSource(client, before);
  const updated = await askingForProps(cli, flags, {
    props: await typedProps(component, props, flags),
    send: (configured) => client.sources.update(before.id, { ...change, configured_props: configured }),
    component,
    isGuided: false,
  });
  return printRecord(cli, updated, () => {
    printWarnings(cli, updated);
    printLine(cli, `Updated ${updated.name_slug} (${updated.id})`);
  });
}

type SourceChange = NonNullable<Parameters<Client["sources"]["update"]>[1]>;

async function changeOf(flags: UpdateFlags, env: Record<string, string>): Promise<SourceChange> {
  const { code, latest, name, slug, activate, deactivate, import: imports } = flags;
  if (activate === true && deactivate === true)
    throw new PdError("PD_BAD_INPUT", "Cannot both activate and deactivate", { fix: "Give one of --activate and --deactivate" });
  if (code !== undefined && latest === true)
    throw new PdError("PD_BAD_INPUT", "Cannot use both the given code and the newest of its registry", { fix: "Give one of --code and --latest" });
  if (imports !== undefined && code === undefined && latest !== true)
    throw new PdError("PD_BAD_INPUT", "Cannot change the imports of a component without its code", { fix: "Give --code or --latest as well" });
  if (flags.packagesAsOf !== undefined && code === undefined && latest !== true)
    throw new PdError("PD_BAD_INPUT", "Cannot install packages of another day without the code", { fix: "Give --code or --latest as well" });
  return {
    ...(code === undefined ? {} : await codeOf(code)),
    ...(await additionParams(flags)),
    ...(name === undefined ? {} : { name, keep_slug: true }),
    ...(slug === undefined ? {} : { slug }),
    ...settingsOf(flags),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(activate === true ? { active: true } : deactivate === true ? { active: false } : {}),
  };
}
