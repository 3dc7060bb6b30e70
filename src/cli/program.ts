/** Every command with its flags. What a command does is loaded when it runs. */
import { Command, Option } from "@commander-js/extra-typings";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import { accountCommands } from "./declarations/accounts.ts";
import { componentCommands } from "./declarations/components.ts";
import { remoteCommands } from "./declarations/remote.ts";
import type { Run } from "./declarations/run.ts";
import { serverCommands } from "./declarations/server.ts";
import { deployCommands, readCommands, runCommands } from "./declarations/sources.ts";
import { workflowCommands } from "./declarations/workflows.ts";
import { webhookCommands } from "./declarations/webhooks.ts";

export function buildProgram(run: Run): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .showHelpAfterError("(pd help shows what there is)")
    .configureHelp({ showGlobalOptions: true });
  serverCommands(program, run);
  accountCommands(program, run);
  deployCommands(program, run);
  readCommands(program, run);
  runCommands(program, run);
  workflowCommands(program, run);
  componentCommands(program, run);
  webhookCommands(program, run);
  remoteCommands(program, run);
  // What belongs to a group of commands knows the flags of the group.
  for (const command of program.commands) {
    command.addOption(new Option("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.option("--json", "Answer with JSON on stdout");
    command.option("-p, --profile <name>", "For the server of this profile (pd login); local is this machine's");
  }
  return program;
}
