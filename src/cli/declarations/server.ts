import type { Command } from "commander";
import { serverFlags } from "./flags.ts";
import { type Bind, word } from "./given.ts";

export function serverCommands(program: Command, bind: Bind): void {
  serverFlags(program.command("up").description("Start the server"))
    .option("--detach", "Start it in the background")
    .action(bind(async (cli, { flags }) => (await import("../commands/up.ts")).up(cli, flags)));
  serverFlags(program.command("serve").description("Start the server for a host that others reach; wants named keys (pd keys)")).action(
    bind(async (cli) => (await import("../commands/up.ts")).serve(cli)),
  );
  serverFlags(program.command("doctor").description("Tell of every component in a folder whether it can be deployed here, and why not"))
    .option("--registry <folder>", "A checkout of components")
    .option("--grep <text>", "Only those whose path or key has this text")
    .option("--json [file]", "The whole report as JSON, on stdout or in a file")
    .action(bind(async (cli, { flags }) => (await import("../commands/doctor.ts")).doctor(cli, flags)));
  program
    .command("backup <file>")
    .description("Write everything that the server keeps to a file, as of one moment")
    .action(bind(async (cli, { words }) => (await import("../commands/backup.ts")).backup(cli, word(words[0]))));
  program
    .command("restore <file>")
    .description("Put a backup in the place of the database of a server that does not run")
    .option("--yes", "Also where there is a database, which is moved aside")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/backup.ts")).restore(cli, word(words[0]), flags)));
  program
    .command("down")
    .description("Stop the server")
    .action(bind(async (cli) => (await import("../commands/down.ts")).down(cli)));
  program
    .command("status")
    .description("Tell whether a server runs")
    .action(bind(async (cli) => (await import("../commands/status.ts")).status(cli)));
}
