import { stat } from "node:fs/promises";
import { Attachments } from "../../code/attachments.ts";
import { inspectPort } from "../../dev/debugging.ts";
import { openSession } from "../../dev/session.ts";
import type { DevFlags } from "../../dev/session-settings.ts";
import { startRuntime } from "../../../runtime.ts";
import { streamLog } from "../../../system/log.ts";
import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { fileOf } from "../../code/component-target.ts";
import { type CliContext, connect, findServer, tellUnusedSettings } from "../../context.ts";
import { hostedClient } from "../../hosted-client.ts";
import { settingsOf } from "../../settings-of.ts";
import { findProfile } from "../../profiles.ts";
import { givenEnv, givenProps } from "../../code/prop-flags.ts";
import { printNote } from "../../reporter.ts";
import { refuseForComponent, refuseForWorkflow } from "../refuse-flags.ts";
import { abortOnStop } from "../../stop-signals.ts";
import type { StandFlags } from "../../workflows/deploy-workflow.ts";
import { openWorkflowSession } from "../../workflows/dev-session.ts";
import { workflowFolderOf } from "../../workflows/folder.ts";

/** Each save updates one deployed component. Hosts the server when none runs. */
export async function dev(cli: CliContext, target: string, flags: DevFlags & StandFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const settings = await settingsOf(cli);
  const profile = await findProfile(cli.profile, cli.environment);
  const isElsewhere = profile !== undefined;
  const isInspected = inspectPort(flags.inspect) !== undefined;
  if (profile !== undefined && isInspected)
    throw new PdError("PD_NOT_OWNER", `Cannot debug on ${profile.baseUrl}: only your own server on this machine accepts a debugger`);
  const running = isElsewhere ? await connect(cli) : await findServer(settings);
  if (running !== undefined && !isElsewhere) tellUnusedSettings(cli);
  const hosted = running === undefined ? await startRuntime(settings, streamLog(cli.stderr)) : undefined;
  if (hosted !== undefined) printNote(cli, `Server ${hosted.apiUrl} stops with this session (pd up keeps one running)`);
  const client = running ?? (hosted === undefined ? await connect(cli) : hostedClient(hosted));
  const stop = abortOnStop(cli.stdout);
  try {
    const elsewhere = isElsewhere ? client.connection.baseUrl : "";
    const workflow = await workflowFolderOf(target);
    if (workflow !== undefined) {
      refuseForWorkflow(flags, workflow);
      await openWorkflowSession(cli, { client, path: workflow, flags, env, home: settings.home, elsewhere, stop });
      return 0;
    }
    if (flags.dc !== undefined && flags.new === true)
      throw new PdError("PD_BAD_INPUT", "Cannot both attach to a source and deploy another one", { fix: "Leave out --dc or --new" });
    refuseForComponent(flags, target);
    const known = await attachedFile(client, target, new Attachments(settings.home, elsewhere));
    const file = known ?? (await fileOf(client, target, { home: settings.home, isElsewhere }));
    await openSession(cli, {
      client,
      ...file,
      flags: attachTo(flags, known?.id),
      props,
      env,
      home: settings.home,
      elsewhere,
      stop,
    });
  } finally {
    await hosted?.[Symbol.asyncDispose]();
  }
  return 0;
}

/** By the source's name, with its last file. An existing path is never a name. */
async function attachedFile(client: Client, target: string, attachments: Attachments): Promise<{ readonly path: string; readonly id: string } | undefined> {
  const isPath = await stat(target).then(
    () => true,
    () => false,
  );
  if (isPath) return undefined;
  const source = await client.sources.get(target).catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND") return undefined;
    throw error;
  });
  const path = source === undefined ? undefined : await attachments.fileOf(source.id);
  return source === undefined || path === undefined ? undefined : { path, id: source.id };
}

/** Attaches to a source given by name, unless flags forbid it. */
function attachTo(flags: DevFlags & StandFlags, id: string | undefined): DevFlags & StandFlags {
  return id === undefined || flags.dc !== undefined || flags.new === true ? flags : { ...flags, dc: id, force: true };
}
