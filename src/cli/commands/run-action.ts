import type { JsonObject } from "../../domain/json.ts";
import { askingForProps } from "../ask.ts";
import { codeOf, importParams } from "../component-target.ts";
import { type CliContext, connect } from "../context.ts";
import { askedCode } from "../asked-component.ts";
import { type PropFlags, givenEnv, givenProps, readJsonFile } from "../prop-flags.ts";
import { printActionRun } from "../action-run.ts";

export interface RunActionFlags extends PropFlags {
  readonly env?: readonly string[];
  readonly envFile?: string;
  readonly prompt?: boolean;
  readonly import?: readonly string[];
  /** JSON file with the outputs of earlier steps. */
  readonly steps?: string;
}

/** `pd run-action <file|url|key>`: runs an action once and shows what it did. Exits 1 when it failed. */
export async function runAction(cli: CliContext, target: string, flags: RunActionFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const steps: JsonObject = flags.steps === undefined ? {} : { steps: await readJsonFile(flags.steps, "the outputs of steps") };
  const code = { ...(await codeOf(target)), ...(await importParams(flags.import)), env };
  const client = await connect(cli);
  const run = await askingForProps(cli, flags, {
    props,
    send: (configured) => client.post("/v1/actions/run", { ...code, ...steps, configured_props: configured }),
    component: askedCode(client, code),
    isGuided: true,
  });
  return printActionRun(cli, run);
}
