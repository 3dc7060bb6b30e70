import { openSession } from "../dev/session.ts";
import type { DevFlags } from "../dev/session-settings.ts";
import { startRuntime } from "../../runtime.ts";
import { streamLog } from "../../system/log.ts";
import { createClient } from "../../client/client.ts";
import { fileOf } from "../code/component-target.ts";
import { type CliContext, connect, findServer, settingsOf } from "../context.ts";
import { findProfile } from "../profiles.ts";
import { givenEnv, givenProps } from "../code/prop-flags.ts";
import { printNote } from "../reporter.ts";
import { abortOnStop } from "../stop-signals.ts";
import type { StandFlags } from "../workflows/deploy-workflow.ts";
import { openWorkflowSession } from "../workflows/dev-session.ts";
import { workflowFolderOf } from "../workflows/folder.ts";

/** `pd dev <file, key, or folder of a workflow>`: every save becomes the running code of one deployed component. Hosts the server itself where none runs. */
export async function dev(cli: CliContext, target: string, flags: DevFlags & StandFlags): Promise<number> {
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  const settings = await settingsOf(cli);
  const isElsewhere = (await findProfile(cli.profile, cli.environment)) !== undefined;
  const running = isElsewhere ? await connect(cli) : await findServer(settings);
  const hosted = running === undefined ? await startRuntime(settings, streamLog(cli.stderr)) : undefined;
  if (hosted !== undefined) printNote(cli, `Server ${hosted.apiUrl}, ends with this session (pd up keeps one running)`);
  const client = running ?? createClient({ baseUrl: hosted?.apiUrl ?? "", key: hosted?.apiKey ?? "" });
  const stop = abortOnStop(cli.stdout);
  try {
    const workflow = await workflowFolderOf(target);
    if (workflow !== undefined) {
      await openWorkflowSession(cli, { client, path: workflow, flags, env, stop });
      return 0;
    }
    const path = await fileOf(client, target, { home: settings.home, isElsewhere });
    await openSession(cli, { client, path, flags, props, env, home: settings.home, elsewhere: isElsewhere ? client.connection.baseUrl : "", stop });
  } finally {
    await hosted?.[Symbol.asyncDispose]();
  }
  return 0;
}
