import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";
import { type ApiClient, dataOf } from "../api-client.ts";
import { codeOf, importParams } from "../component-target.ts";
import { type CliContext, connect } from "../context.ts";
import { type PropFlags, givenEnv, givenProps } from "../prop-flags.ts";
import { countOf, printNote, printRecords, text, printJson } from "../reporter.ts";

export interface OptionsFlags extends PropFlags {
  readonly env?: readonly string[];
  readonly envFile?: string;
  readonly import?: readonly string[];
  readonly page?: string;
  readonly query?: string;
  readonly context?: string;
}

/** `pd options <component> <prop>`: one page of the choices of a prop, of a file, a URL, a key or a deployed source. */
export async function options(cli: CliContext, { target, prop }: { target: string; prop: string }, flags: OptionsFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const context = flags.context === undefined ? {} : parseJson(flags.context);
  if (!isJsonObject(context))
    throw new PdError("PD_BAD_INPUT", `Cannot use --context ${JSON.stringify(flags.context)}: it wants the context of the page before, as JSON`);
  const request = {
    prop_name: prop,
    configured_props: props,
    page: countOf(flags.page ?? "0", "--page"),
    prev_context: context,
    ...(flags.query === undefined ? {} : { query: flags.query }),
  };
  const client = await connect(cli);
  const source = await sourceNamed(client, target);
  const page =
    source === undefined
      ? await client.post("/v1/components/configure", { ...(await codeOf(target)), ...(await importParams(flags.import)), env, ...request })
      : dataOf(await client.post(`/v1/sources/${text(source, "id")}/configure`, request));
  if (cli.isJson) {
    printJson(cli, page);
    return 0;
  }
  const next = page["context"];
  if (isJsonObject(next) && Object.keys(next).length > 0)
    printNote(cli, `Next page: --page ${countOf(flags.page ?? "0", "--page") + 1} --context '${JSON.stringify(next)}'`);
  const choices = Array.isArray(page["options"]) ? page["options"].filter(isJsonObject) : [];
  return printRecords(cli, choices, { columns: ["value", "label"], cells: (choice) => [text(choice, "value"), text(choice, "label")], none: "No choices" });
}

/** A deployed source goes before a key of the same name. */
async function sourceNamed(client: ApiClient, target: string): Promise<JsonObject | undefined> {
  if (/[./]/.test(target)) return undefined;
  return client.source(target).catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND") return undefined;
    throw error;
  });
}
