import type { Command } from "@commander-js/extra-typings";
import { serverFlags } from "./flags.ts";
import type { Run } from "./run.ts";

export function serverCommands(program: Command, run: Run): void {
  serverFlags(program.command("up").description("Start the server").option("--detach", "Start it in the background")).action((flags, command) =>
    run(command, async (cli) => (await import("../commands/up.ts")).up(cli, flags)),
  );
  serverFlags(program.command("serve").description("Start the server for a host that others reach; wants named keys (pd keys)")).action((_flags, command) =>
    run(command, async (cli) => (await import("../commands/up.ts")).serve(cli)),
  );
  const doctor = program
    .command("doctor")
    .description("Tell what is right and wrong with the server; with --registry, which components of a folder can be deployed here")
    .option("--registry <folder>", "A checkout of components")
    .option("--grep <text>", "Only those whose path or key has this text")
    .option("--json [file]", "The report as JSON, on stdout or (of --registry) in a file");
  serverFlags(doctor).action((flags, command) => run(command, async (cli) => (await import("../commands/doctor.ts")).doctor(cli, flags)));
  program
    .command("backup <file>")
    .description("Write everything that the server keeps to a file, as of one moment")
    .action((file, _flags, command) => run(command, async (cli) => (await import("../commands/backup.ts")).backup(cli, file)));
  program
    .command("restore <file>")
    .description("Put a backup in the place of the database of a server that does not run")
    .option("--yes", "Also where there is a database, which is moved aside")
    .action((file, flags, command) => run(command, async (cli) => (await import("../commands/backup.ts")).restore(cli, file, flags)));
  program
    .command("down")
    .description("Stop the server")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/down.ts")).down(cli)));
  program
    .command("status")
    .description("Tell whether a server runs")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/status.ts")).status(cli)));
  program
    .command("mcp")
    .description("Give an agent tools of the server over stdin and stdout, by the Model Context Protocol: to look at it, and actions that you choose")
    .option("--actions <keys>", "Actions of the registries as tools, with commas: slack-send-message,github-*")
    .option("--account <app=account...>", "The account that actions of an app use; others are asked for")
    .option("--steer", "Also what changes something: run, replay, deploy, update, write state, delete")
    .action((flags, command) => run(command, async (cli) => (await import("../commands/mcp.ts")).mcp(cli, flags)));
  program
    .command("completion <shell>")
    .description("Print a completion script for bash, zsh or fish")
    .action((shell, _flags, command) => run(command, async (cli) => (await import("../commands/completion.ts")).completion(cli, shell)));
  // For the shells' completion scripts.
  program
    .command("complete [words...]", { hidden: true })
    .description("Tell what the last word may become")
    .action((words, _flags, command) => run(command, async (cli) => (await import("../commands/complete.ts")).completeWords(cli, words, program)));
}
