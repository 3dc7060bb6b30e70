import type { Command } from "commander";
import { propFlags } from "./flags.ts";
import { type Bind, textsOf } from "./given.ts";

/** Flags of what travels between servers. */
function transferFlags(command: Command): Command {
  return propFlags(command)
    .option("--all", "Every source")
    .option("--with-secrets", "Secrets, credentials and variables as well")
    .option("--with-state", "The key-value store and the dedupe memory as well")
    .option("--events <count>", "The newest events as well, to a source that is new there", "0")
    .option("--dry-run", "Show the plan, and change nothing");
}

export function remoteCommands(program: Command, bind: Bind): void {
  program
    .command("login")
    .description("Keep the key of a server: under -p <name>, or as the one that is used by default")
    .option("--base-url <url>", "Address of the server's API")
    .action(bind(async (cli, { flags }) => (await import("../commands/login.ts")).login(cli, flags)));
  program
    .command("logout")
    .description("Forget the key of a server")
    .action(bind(async (cli) => (await import("../commands/login.ts")).logout(cli)));
  transferFlags(program.command("push [source...]").description("Bring sources to another server"))
    .option("--to <profile>", "The other server")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/transfer.ts")).push(cli, textsOf(words[0]), flags)));
  transferFlags(program.command("pull [source...]").description("Fetch sources from another server, or from the hosted platform (--from pipedream)"))
    .option("--from <profile>", "The other server")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/transfer.ts")).pull(cli, textsOf(words[0]), flags)));
}
