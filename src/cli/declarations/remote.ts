import type { Command, OptionValues } from "@commander-js/extra-typings";
import { standFlags, valueFlags } from "./flags.ts";
import { type Run, list } from "./run.ts";

function transferFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return standFlags(valueFlags(command))
    .option("--all", "Every source and workflow")
    .option("--with-secrets", "Secrets, credentials and variables as well")
    .option("--with-state", "The key-value store and the dedupe memory as well")
    .option("--events <count>", "The newest events as well, for a source that is new there", "0")
    .option("--dry-run", "Show the plan, and change nothing")
    .option("--yes", "Do not ask before replacing anything here");
}

export function projectCommands(program: Command, run: Run): void {
  program
    .command("apply [folder]")
    .description("Apply a folder's pd.yaml to the server: sources, workflows, webhooks, data stores; shows the plan first")
    .option("--for <profile>", "Use this profile of the file")
    .option("--prune", "Delete what is not in the file")
    .option("--dry-run", "Show the plan, and change nothing")
    .option("--yes", "Do not ask, except before granting programs or native code")
    .option("--allow-run <source>", "Let this one start programs, if the plan says so; repeatable", list)
    .option("--allow-addons <workflow>", "Let this one load native code, if the plan says so; repeatable", list)
    .option("--schema", "Print the JSON schema of pd.yaml, for editors")
    .action((folder, flags, command) => run(command, async (cli) => (await import("../commands/remote/apply.ts")).apply(cli, folder, flags)));
  standFlags(program.command("import [what...]"))
    .description("Import exported workflows: a folder, a clone of a synced repository, a project's ZIP, or p_<id> with --from; shows the plan first")
    .option("--env <name=value>", "Variable that the workflows read, repeatable", list)
    .option("--env-file <file>", "Variables from a file")
    .option("--from <profile>", "Fetch workflows by their ids from the hosted platform: --from pipedream")
    .option("--into <folder>", "Folder for fetched or unpacked workflows", "workflows")
    .option("--report <file>", "Write a report as .html, .json or text")
    .option("--explain", "Print the structure of a ZIP, without values, to send to the makers of this program")
    .option("--dry-run", "Show the plan, and change nothing")
    .option("--no-prompt", "Never ask; fail if a value is missing")
    .option("--yes", "Deploy what is ready, without asking")
    .action((what, flags, command) => run(command, async (cli) => (await import("../commands/remote/import.ts")).importWorkflows(cli, what, flags)));
  program
    .command("export [source...]")
    .description("Write sources, workflows, webhooks and data stores to a folder for Git, which pd apply reads; secrets stay")
    .option("--into <folder>", "Target folder", ".")
    .option("--force", "Overwrite files with other content")
    .action((sources, flags, command) => run(command, async (cli) => (await import("../commands/remote/export.ts")).exportFolder(cli, sources, flags)));
}

export function remoteCommands(program: Command, run: Run): void {
  program
    .command("login")
    .description("Store the key of a server: under -p <name>, or as the default")
    .option("--base-url <url>", "Address of the server's API")
    .action((flags, command) => run(command, async (cli) => (await import("../commands/remote/login.ts")).login(cli, flags)));
  program
    .command("logout")
    .description("Forget the key of a server")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/remote/login.ts")).logout(cli)));
  transferFlags(program.command("push [source...]").description("Copy sources and workflows to another server"))
    .option("--to <profile>", "The other server")
    .action((sources, flags, command) => run(command, async (cli) => (await import("../commands/remote/transfer.ts")).push(cli, sources, flags)));
  transferFlags(
    program.command("pull [source...]").description("Fetch sources and workflows from another server, or from the hosted platform (--from pipedream)"),
  )
    .option("--from <profile>", "The other server")
    .option("--allow-run <source>", "Let this one start programs here, if it may there; repeatable", list)
    .action((sources, flags, command) => run(command, async (cli) => (await import("../commands/remote/transfer.ts")).pull(cli, sources, flags)));
}
