import type { SourceRecord } from "../../../api/sources.ts";
import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { isJsonObject, parseJson } from "../../../domain/text/json.ts";
import { codeOf, additionParams } from "../../code/component-target.ts";
import { type CodeFlags, givenEnv, givenProps } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { refuseGiven } from "../refuse-flags.ts";
import { countOf, printJson, printNote, printRecords } from "../../reporter.ts";

export interface OptionsFlags extends CodeFlags {
  readonly page: string;
  readonly query?: string | undefined;
  readonly context?: string | undefined;
}

/** `target`: a file, URL, key or deployed source. */
export async function options(cli: CliContext, { target, prop }: { target: string; prop: string }, flags: OptionsFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const context = flags.context === undefined ? {} : parseJson(flags.context);
  if (!isJsonObject(context))
    throw new PdError("PD_BAD_INPUT", `Cannot use --context ${JSON.stringify(flags.context)}: expected the context of the previous page, as JSON`);
  const page = countOf(flags.page, "--page");
  const request = { prop_name: prop, configured_props: props, page, prev_context: context, query: flags.query };
  const client = await connect(cli);
  const source = await sourceNamed(client, target);
  const { env: variables, envFile, import: imports } = flags;
  if (source !== undefined) refuseGiven({ env: variables, "env-file": envFile, import: imports }, `the source ${source.name_slug} has its own`);
  const found =
    source === undefined
      ? await client.components.configure({ ...(await codeOf(target)), ...(await additionParams(flags)), env, ...request })
      : await client.sources.configure(source.id, request);
  if (cli.isJson) {
    printJson(cli, found);
    return 0;
  }
  if (found.context !== null && Object.keys(found.context).length > 0)
    printNote(cli, `Next page: --page ${page + 1} --context '${JSON.stringify(found.context).replaceAll("'", "'\\''")}'`);
  for (const note of found.observations) if (isJsonObject(note)) printNote(cli, String(note["msg"]));
  return printRecords(cli, found.options, {
    columns: ["value", "label"],
    cells: ({ value, label }) => [typeof value === "string" ? value : JSON.stringify(value), label],
    none: "No choices",
  });
}

/** A deployed source precedes a key of the same name. */
async function sourceNamed(client: Client, target: string): Promise<SourceRecord | undefined> {
  if (/[./]/.test(target)) return undefined;
  return client.sources.get(target).catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND") return undefined;
    throw error;
  });
}
