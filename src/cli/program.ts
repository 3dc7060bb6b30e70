/** Every command with its flags. What a command does is loaded when it runs. */
import { Command, Option } from "@commander-js/extra-typings";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import { accountCommands, configCommands } from "./declarations/accounts.ts";
import { componentCommands } from "./declarations/components.ts";
import { projectCommands, remoteCommands } from "./declarations/remote.ts";
import { arrangeHelp } from "./declarations/help.ts";
import type { Run } from "./declarations/run.ts";
import { serverCommands } from "./declarations/server.ts";
import { deployCommands, readCommands, runCommands } from "./declarations/sources.ts";
import { workflowCommands } from "./declarations/workflows.ts";
import { webhookCommands } from "./declarations/webhooks.ts";

/** A flag that every command has. */
function everywhere(flags: string, about: string): Option {
  return new Option(flags, about).helpGroup("Everywhere:");
}

/** What declares commands, and their names, in the order in which help shows their groups. */
export const DECLARATIONS: readonly (readonly [declare: (program: Command, run: Run) => void, names: readonly string[]])[] = [
  [deployCommands, ["dev", "deploy", "update", "versions", "rollback", "delete", "init", "fixture", "test"]],
  [readCommands, ["open", "list", "describe", "timers", "events", "logs"]],
  [runCommands, ["run", "replay", "emit", "db"]],
  [workflowCommands, ["runs", "rerun", "retry", "resume", "cancel"]],
  [webhookCommands, ["webhooks", "subscribe", "subscriptions", "deliveries", "listen"]],
  [componentCommands, ["run-action", "options", "publish", "unpublish", "registry", "stores"]],
  [accountCommands, ["keys", "accounts", "secrets"]],
  [configCommands, ["config"]],
  [serverCommands, ["up", "serve", "doctor", "backup", "restore", "down", "status", "mcp", "completion", "complete"]],
  [projectCommands, ["apply", "import", "export"]],
  [remoteCommands, ["login", "logout", "push", "pull"]],
];

/** What the words of a command line need: the declaration of a command costs as much as the rest of its start. */
function neededFor([first]: readonly string[]): typeof DECLARATIONS {
  // It tells what every other one takes.
  const wantsAll = first === undefined || first === "complete";
  const own = wantsAll ? [] : DECLARATIONS.filter(([, names]) => names.includes(first));
  return own.length === 0 ? DECLARATIONS : own;
}

/** `words`: those of one command line, which the program is made for; absent: every command is there. */
export function buildProgram(run: Run, words: readonly string[] = []): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .configureHelp({ showGlobalOptions: true });
  for (const [declare] of neededFor(words)) declare(program, run);
  arrangeHelp(program);
  // What belongs to a group of commands knows the flags of the group.
  for (const command of program.commands) {
    command.addOption(everywhere("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.addOption(everywhere("--json", "Answer with JSON on stdout"));
    command.addOption(everywhere("-p, --profile <name>", "For the server of this profile (pd login); local is this machine's"));
  }
  return program;
}
