/** Commands' code is loaded when they run. */
import { Command, Option } from "@commander-js/extra-typings";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import { accountCommands, configCommands } from "./declarations/accounts.ts";
import { clusterCommands } from "./declarations/cluster.ts";
import { componentCommands } from "./declarations/components.ts";
import { projectCommands, remoteCommands } from "./declarations/remote.ts";
import { arrangeHelp } from "./declarations/help.ts";
import type { Run } from "./declarations/run.ts";
import { serverCommands } from "./declarations/server.ts";
import { deployCommands, readCommands, runCommands } from "./declarations/sources.ts";
import { workflowCommands } from "./declarations/workflows.ts";
import { webhookCommands } from "./declarations/webhooks.ts";

function everywhere(flags: string, about: string): Option {
  return new Option(flags, about).helpGroup("Everywhere:");
}

export const DECLARATIONS: readonly (readonly [declare: (program: Command, run: Run) => void, names: readonly string[]])[] = [
  [deployCommands, ["dev", "deploy", "update", "versions", "rollback", "delete", "init", "fixture", "test"]],
  [readCommands, ["open", "list", "describe", "timers", "events", "search", "logs"]],
  [runCommands, ["run", "replay", "emit", "db"]],
  [workflowCommands, ["runs", "rerun", "retry", "resume", "cancel"]],
  [webhookCommands, ["webhooks", "subscribe", "subscriptions", "deliveries", "alerts", "listen"]],
  [componentCommands, ["run-action", "options", "publish", "unpublish", "registry", "stores"]],
  [accountCommands, ["keys", "accounts", "secrets"]],
  [configCommands, ["config"]],
  [serverCommands, ["up", "serve", "doctor", "backup", "restore", "migrate", "down", "status", "mcp", "completion", "complete"]],
  [clusterCommands, ["cluster"]],
  [projectCommands, ["apply", "import", "export"]],
  [remoteCommands, ["login", "logout", "push", "pull"]],
];

/** Fewer commands shorten the start. */
function neededFor([first]: readonly string[]): typeof DECLARATIONS {
  const wantsAll = first === undefined || first === "complete";
  const own = wantsAll ? [] : DECLARATIONS.filter(([, names]) => names.includes(first));
  return own.length === 0 ? DECLARATIONS : own;
}

/** `words`: the command line. Omitted: every command. */
export function buildProgram(run: Run, words: readonly string[] = []): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .configureHelp({ showGlobalOptions: true });
  for (const [declare] of neededFor(words)) declare(program, run);
  arrangeHelp(program);
  for (const command of program.commands) {
    command.addOption(everywhere("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.addOption(everywhere("--json", "Print JSON on stdout"));
    command.addOption(everywhere("-p, --profile <name>", "Use the server of this profile (pd login); local is this machine's"));
  }
  return program;
}
