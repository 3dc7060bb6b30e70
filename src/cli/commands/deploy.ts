import type { JsonObject } from "../../domain/json.ts";
import { dataOf } from "../api-client.ts";
import { askingForProps } from "../ask.ts";
import { PdError } from "../../domain/errors.ts";
import { type CliContext, connect } from "../context.ts";
import { codeOf, importParams, pickComponent } from "../component-target.ts";
import { askedCode } from "../asked-component.ts";
import { givenEnv, givenProps } from "../prop-flags.ts";
import { printJson, printLine, printNote, text } from "../reporter.ts";

export interface DeployFlags {
  readonly prop?: readonly string[];
  readonly props?: string;
  readonly env?: readonly string[];
  readonly envFile?: string;
  readonly name?: string;
  readonly prompt?: boolean;
  readonly maxConcurrency?: string;
  readonly allowRun?: string;
  /** Modules that are loaded before the component. */
  readonly import?: readonly string[];
}

/** `pd deploy [file, URL or key]`; without one a person picks from the registries. */
export async function deploy(cli: CliContext, target: string | undefined, flags: DeployFlags): Promise<number> {
  const [props, env, imports] = [await givenProps(flags), await givenEnv(flags), await importParams(flags.import)];
  const given = target === undefined ? undefined : await codeOf(target);
  const client = await connect(cli);
  const code = { ...(given ?? (await codeOf(await pickComponent(cli, client, flags)))), ...imports, env };
  const request = { ...code, ...limitsOf(flags), ...(flags.name === undefined ? {} : { name: flags.name }) };
  const source = await askingForProps(cli, flags, {
    props,
    send: (configured) => client.post("/v1/sources", { ...request, configured_props: configured }),
    component: askedCode(client, code),
    isGuided: true,
  }).then(dataOf);
  if (cli.isJson) printJson(cli, source);
  else printDeployed(cli, source);
  return 0;
}

/** Parameters of the API for flags that limit what a source may do. */
export function limitsOf({ maxConcurrency, allowRun }: DeployFlags): JsonObject {
  if (allowRun !== undefined && allowRun !== "true" && allowRun !== "false")
    throw new PdError("PD_BAD_INPUT", `Cannot read --allow-run ${JSON.stringify(allowRun)}: it wants true or false`);
  const rights = allowRun === undefined ? {} : { allow_run: allowRun === "true" };
  if (maxConcurrency === undefined) return rights;
  if (maxConcurrency === "none") return { ...rights, max_concurrency: null };
  const most = Number(maxConcurrency);
  if (Number.isInteger(most) && most >= 1) return { ...rights, max_concurrency: most };
  throw new PdError("PD_BAD_INPUT", `Cannot read --max-concurrency ${JSON.stringify(maxConcurrency)}: it wants a whole number from 1, or none`);
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
