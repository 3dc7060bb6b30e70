import type { JsonObject } from "../../../domain/text/json.ts";
import { printActionRun } from "../../action-run.ts";
import { askingForProps } from "../../props/ask-props.ts";
import { typedProps } from "../../props/typed-props.ts";
import { askedCode } from "../../props/asked-component.ts";
import { codeOf, additionParams } from "../../code/component-target.ts";
import { type CodeFlags, givenEnv, givenProps, readJsonFile } from "../../code/prop-flags.ts";
import { type ProcessFlags, firstLimits } from "../../code/limit-flags.ts";
import { type CliContext, connect } from "../../context.ts";

export interface RunActionFlags extends CodeFlags, ProcessFlags {
  /** JSON file with outputs of earlier steps. */
  readonly steps?: string | undefined;
}

/** Exit code 1 when the run failed. */
export async function runAction(cli: CliContext, target: string, flags: RunActionFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const steps: JsonObject | undefined = flags.steps === undefined ? undefined : await readJsonFile(flags.steps, "the outputs of steps");
  const code = { ...(await codeOf(target)), ...(await additionParams(flags)), env };
  const limits = firstLimits(flags);
  const client = await connect(cli);
  const component = askedCode(client, code);
  const run = await askingForProps(cli, flags, {
    props: await typedProps(component, props, flags),
    send: (configured) => client.actions.run({ ...code, ...limits, steps, configured_props: configured }),
    component,
    isGuided: true,
  });
  return printActionRun(cli, run);
}
