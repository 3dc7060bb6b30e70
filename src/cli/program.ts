/** Every command with its flags. What a command does is loaded when it runs. */
import { Command, Option } from "@commander-js/extra-typings";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import { accountCommands } from "./declarations/accounts.ts";
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

export function buildProgram(run: Run): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .showHelpAfterError("(pd help shows what there is)")
    .configureHelp({ showGlobalOptions: true });
  // In the order in which help shows their groups.
  deployCommands(program, run);
  readCommands(program, run);
  runCommands(program, run);
  workflowCommands(program, run);
  webhookCommands(program, run);
  componentCommands(program, run);
  accountCommands(program, run);
  serverCommands(program, run);
  projectCommands(program, run);
  remoteCommands(program, run);
  arrangeHelp(program);
  // What belongs to a group of commands knows the flags of the group.
  for (const command of program.commands) {
    command.addOption(everywhere("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.addOption(everywhere("--json", "Answer with JSON on stdout"));
    command.addOption(everywhere("-p, --profile <name>", "For the server of this profile (pd login); local is this machine's"));
  }
  return program;
}
