import { type CliContext, findServer } from "../../context.ts";
import { packageVersion } from "../../../system/program-files.ts";
import { settingsOf } from "../../settings-of.ts";
import { fields, printJson, printLine } from "../../reporter.ts";

/** Exit code 1 without a server on this PD_HOME. */
export async function status(cli: CliContext): Promise<number> {
  const settings = await settingsOf(cli);
  const client = await findServer(settings);
  if (client === undefined) {
    if (cli.isJson) printJson(cli, { running: false, home: settings.home });
    else printLine(cli, `Not running (home ${settings.home})`);
    return 1;
  }
  const [found, version] = await Promise.all([client.server.status(), packageVersion()]);
  if (cli.isJson) printJson(cli, { running: true, ...found });
  else
    printLine(
      cli,
      fields([
        ["Running", `process ${found.pid}, version ${found.version}`],
        ["This command", found.version === version ? undefined : `version ${version}: the server keeps its version until it restarts (pd down)`],
        ["Node", found.node === undefined ? undefined : `${found.node} (pd cluster lists all)`],
        ["API", found.api_url],
        ["Endpoints", found.endpoint_url],
        ["Sources", found.sources],
        ["Processes", found.processes],
        ["Home", found.home],
        ["Secret key", found.secret_key],
        ["Database", found.database],
        ["Sandbox", `${found.sandbox}${found.no_wall === undefined ? "" : ` (no wall: ${found.no_wall})`}`],
        ["Network", found.component_network],
        ["Damage", found.damage],
      ]),
    );
  return 0;
}
