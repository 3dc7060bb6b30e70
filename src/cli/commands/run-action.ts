import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { limitsOf } from "./deploy.ts";
import { printActionRun } from "../action-run.ts";
import { askingForProps } from "../props/ask-props.ts";
import { askedCode } from "../props/asked-component.ts";
import { codeOf, additionParams } from "../code/component-target.ts";
import { type CodeFlags, givenEnv, givenProps, readJsonFile } from "../code/prop-flags.ts";
import { type CliContext, connect } from "../context.ts";

export interface RunActionFlags extends CodeFlags {
  /** JSON file with the outputs of earlier steps. */
  readonly steps?: string | undefined;
  readonly allowRun?: string | undefined;
  /** In seconds. */
  readonly timeout?: string | undefined;
}

/** `pd run-action <file|url|key>`: runs an action once and shows what it did. Exits 1 when it failed. */
export async function runAction(cli: CliContext, target: string, flags: RunActionFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const steps: JsonObject | undefined = flags.steps === undefined ? undefined : await readJsonFile(flags.steps, "the outputs of steps");
  const code = { ...(await codeOf(target)), ...(await additionParams(flags)), env };
  const limits = { ...limitsOf({ allowRun: flags.allowRun }), ...timeoutOf(flags) };
  const client = await connect(cli);
  const run = await askingForProps(cli, flags, {
    props,
    send: (configured) => client.actions.run({ ...code, ...limits, steps, configured_props: configured }),
    component: askedCode(client, code),
    isGuided: true,
  });
  return printActionRun(cli, run);
}

function timeoutOf({ timeout }: RunActionFlags): { timeout_seconds?: number } {
  if (timeout === undefined) return {};
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= 86_400)) throw new PdError("PD_BAD_INPUT", `Cannot read --timeout ${JSON.stringify(timeout)}: it wants seconds, up to a day`);
  return { timeout_seconds: seconds };
}
