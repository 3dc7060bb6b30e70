import type { Command } from "@commander-js/extra-typings";
import { hiddenServerFlags, serverFlags } from "./flags.ts";
import type { Run } from "./run.ts";

export function serverCommands(program: Command, run: Run): void {
  serverFlags(program.command("up").description("Start the server").option("--detach", "Start it in the background")).action((flags, command) =>
    run(command, async (cli) => (await import("../commands/server/up.ts")).up(cli, flags)),
  );
  serverFlags(program.command("serve").description("Start the server on a host that others reach; needs named keys (pd keys)")).action((_flags, command) =>
    run(command, async (cli) => (await import("../commands/server/up.ts")).serve(cli)),
  );
  const doctor = program
    .command("doctor")
    .description("Check the server; with --registry, check which components of a folder can be deployed here")
    .option("--registry <folder>", "A checkout of components")
    .option("--grep <text>", "Only those whose path or key contains this text")
    .option("--json [file]", "The report as JSON, on stdout or, with --registry, in a file");
  hiddenServerFlags(doctor).action((flags, command) => run(command, async (cli) => (await import("../commands/server/doctor.ts")).doctor(cli, flags)));
  program
    .command("backup <file>")
    .description("Write a snapshot of all data of the server to a file")
    .action((file, _flags, command) => run(command, async (cli) => (await import("../commands/server/backup.ts")).backup(cli, file)));
  program
    .command("restore <file>")
    .description("Replace the database of a stopped server with a backup")
    .option("--yes", "Replace an existing database, which is moved aside")
    .action((file, flags, command) => run(command, async (cli) => (await import("../commands/server/backup.ts")).restore(cli, file, flags)));
  const migrate = program
    .command("migrate")
    .description("Copy all data of a stopped server from SQLite to PostgreSQL, or back")
    .requiredOption("--to <url|folder>", "postgres://user@host/name, or the folder that becomes the home of a server on SQLite")
    .option("--to-password-file <file>", "File with the password of the database in --to")
    .option("--yes", "Do not ask");
  serverFlags(migrate).action((flags, command) => run(command, async (cli) => (await import("../commands/server/migrate.ts")).migrate(cli, flags)));
  program
    .command("down")
    .description("Stop the server")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/server/down.ts")).down(cli)));
  program
    .command("status")
    .description("Show whether a server runs")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/server/status.ts")).status(cli)));
  program
    .command("mcp")
    .description("Serve an agent over stdin and stdout with the Model Context Protocol: tools to inspect the server, and actions that you choose")
    .option("--actions <keys>", "Actions of the registries as tools, separated by commas: slack-send-message,github-*")
    .option("--account <app=account...>", "Account for the actions of an app; accounts of other apps are asked for")
    .option("--steer", "Also tools that change something: run, replay, deploy, update, write state, delete")
    .action((flags, command) => run(command, async (cli) => (await import("../commands/server/mcp.ts")).mcp(cli, flags)));
  program
    .command("completion <shell>")
    .description("Print a completion script for bash, zsh or fish")
    .action((shell, _flags, command) => run(command, async (cli) => (await import("../commands/server/completion.ts")).completion(cli, shell)));
  // For the shells' completion scripts.
  program
    .command("complete [words...]", { hidden: true })
    .description("Print completions of the last word")
    .action((words, _flags, command) => run(command, async (cli) => (await import("../commands/server/complete.ts")).completeWords(cli, words, program)));
}
