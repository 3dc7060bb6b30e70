import type { JsonObject } from "../../domain/json.ts";
import { dataOf } from "../api-client.ts";
import { askingForProps } from "../ask.ts";
import { type CliContext, connect } from "../context.ts";
import { codeParamsOf } from "../local-code.ts";
import { givenEnv, givenProps } from "../prop-flags.ts";
import { printJson, printLine, printNote, text } from "../reporter.ts";

export interface DeployFlags {
  readonly prop?: readonly string[];
  readonly props?: string;
  readonly env?: readonly string[];
  readonly envFile?: string;
  readonly name?: string;
  readonly prompt?: boolean;
}

/** `pd deploy <file-or-url>`. */
export async function deploy(cli: CliContext, target: string, flags: DeployFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const code = await codeOf(target);
  const client = await connect(cli);
  const request = { ...code, env, ...(flags.name === undefined ? {} : { name: flags.name }) };
  const source = await askingForProps(cli, flags, {
    props,
    send: (configured) => client.post("/v1/sources", { ...request, configured_props: configured }),
  }).then(dataOf);
  if (cli.isJson) printJson(cli, source);
  else printDeployed(cli, source);
  return 0;
}

/** Parameters of the API for a file or a URL. */
export async function codeOf(target: string): Promise<JsonObject> {
  return /^https?:\/\//.test(target) ? { component_url: target } : codeParamsOf(target);
}

/** What was deployed, and how to go on with it. */
function printDeployed(cli: CliContext, source: JsonObject): void {
  printWarnings(cli, source);
  printLine(cli, `Deployed ${text(source, "name_slug")} (${text(source, "id")})`);
  if (source["endpoint_url"] !== undefined) printLine(cli, `Endpoint: ${text(source, "endpoint_url")}`);
  printNote(cli, `pd events -f ${text(source, "name_slug")} follows its events, pd logs ${text(source, "name_slug")} what it does`);
}

export function printWarnings(cli: CliContext, source: JsonObject): void {
  const warnings = Array.isArray(source["warnings"]) ? source["warnings"] : [];
  for (const warning of warnings) printNote(cli, `Warning: ${String(warning)}`);
}
