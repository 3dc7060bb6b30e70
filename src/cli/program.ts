/** Every command with its flags. What a command does is loaded when it runs. */
import { Command, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import { accountCommands } from "./declarations/accounts.ts";
import { componentCommands } from "./declarations/components.ts";
import type { Bind } from "./declarations/given.ts";
import { remoteCommands } from "./declarations/remote.ts";
import { serverCommands } from "./declarations/server.ts";
import { deployCommands, readCommands, runCommands } from "./declarations/sources.ts";
import { webhookCommands } from "./declarations/webhooks.ts";

/** The program, whose commands are bound to their work. */
export function buildProgram(bind: Bind): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .showHelpAfterError("(pd help shows what there is)");
  serverCommands(program, bind);
  accountCommands(program, bind);
  deployCommands(program, bind);
  readCommands(program, bind);
  runCommands(program, bind);
  componentCommands(program, bind);
  webhookCommands(program, bind);
  remoteCommands(program, bind);
  for (const command of program.commands) {
    command.addOption(new Option("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.option("--json", "Answer with JSON on stdout");
    command.option("-p, --profile <name>", "For the server of this profile (pd login); local is this machine's");
  }
  return program;
}
