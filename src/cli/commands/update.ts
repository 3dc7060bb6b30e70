import type { JsonObject } from "../../domain/json.ts";
import { dataOf } from "../api-client.ts";
import { askingForProps } from "../ask.ts";
import { type CliContext, connect } from "../context.ts";
import { PdError } from "../../domain/errors.ts";
import { givenEnv, givenProps } from "../prop-flags.ts";
import { printJson, printLine, text } from "../reporter.ts";
import { type DeployFlags, codeOf, printWarnings } from "./deploy.ts";

export interface UpdateFlags extends DeployFlags {
  readonly code?: string;
  readonly activate?: boolean;
  readonly deactivate?: boolean;
}

/** `pd update <source>`: code, name, values, active or not. */
export async function update(cli: CliContext, source: string, flags: UpdateFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const change = await changeOf(flags, env);
  if (Object.keys(change).length === 0 && Object.keys(props).length === 0) {
    throw new PdError("PD_BAD_INPUT", `Cannot update ${source}: nothing to change is given`, {
      fix: "Give --code, --name, --prop, --env, --activate or --deactivate",
    });
  }
  const client = await connect(cli);
  const { id } = await client.source(source);
  const updated = await askingForProps(cli, flags, {
    props,
    send: (configured) => client.put(`/v1/sources/${String(id)}`, { ...change, configured_props: configured }),
  }).then(dataOf);
  if (cli.isJson) printJson(cli, updated);
  else printWarnings(cli, updated);
  if (!cli.isJson) printLine(cli, `Updated ${text(updated, "name_slug")} (${text(updated, "id")})`);
  return 0;
}

async function changeOf({ code, name, activate, deactivate }: UpdateFlags, env: Record<string, string>): Promise<JsonObject> {
  if (activate === true && deactivate === true)
    throw new PdError("PD_BAD_INPUT", "Cannot both activate and deactivate", { fix: "Give one of --activate and --deactivate" });
  return {
    ...(code === undefined ? {} : await codeOf(code)),
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(activate === true ? { active: true } : deactivate === true ? { active: false } : {}),
  };
}
