import type { Command } from "commander";
import { propFlags, serverFlags } from "./flags.ts";
import { type Bind, maybe, word } from "./given.ts";

export function deployCommands(program: Command, bind: Bind): void {
  propFlags(serverFlags(program.command("dev <component>").description("Deploy a file, or a component of a registry by its key, and update it on every save")))
    .option("--dc <id>", "Attach to this deployed component")
    .option("--name <name>", "Name of the source")
    .option("--prompt-all", "Ask for every prop, also those that have a value")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/dev.ts")).dev(cli, word(words[0]), flags)));
  propFlags(program.command("deploy [component]").description("Deploy a component: a file, a URL of raw code, or a key; without one, pick from the registries"))
    .option("--name <name>", "Name of the source")
    .option("--allow-run <true|false>", "It may start programs of this machine, inside the wall")
    .option("--max-concurrency <n>", "Runs of it at the same time; 1: one after the other")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/deploy.ts")).deploy(cli, maybe(words[0]), flags)));
  propFlags(program.command("update <source>").description("Change the code, the name, the props or the state of a source"))
    .option("--code <component>", "New code: a file, a URL of raw code, or a key")
    .option("--latest", "The newest code of the registry or address that it came from; shows what changes first")
    .option("--yes", "Do not ask whether to go on")
    .option("--name <name>", "New name")
    .option("--allow-run <true|false>", "It may start programs of this machine, inside the wall")
    .option("--max-concurrency <n>", "Runs of it at the same time; 1: one after the other; none: as many as the server allows")
    .option("--activate", "Run again when triggered")
    .option("--deactivate", "Run no more")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/update.ts")).update(cli, word(words[0]), flags)));
  program
    .command("delete <source>")
    .description("Delete a source with its events")
    .option("--force", "Although its deactivate hook throws")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/delete.ts")).remove(cli, word(words[0]), flags)));
  program
    .command("init <kind> <name>")
    .description("Write a component to begin with: source, action or app")
    .option("--db", "With a key-value store")
    .option("--http", "Triggered by HTTP")
    .option("--timer", "Triggered by a timer")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/init.ts")).init(cli, { kind: word(words[0]), name: word(words[1]) }, flags)));
}

export function readCommands(program: Command, bind: Bind): void {
  program
    .command("list [kind]")
    .description("List sources (so), components or streams (st)")
    .action(bind(async (cli, { words }) => (await import("../commands/list.ts")).list(cli, word(words[0] ?? "sources"))));
  program
    .command("describe <source>")
    .description("Show a source")
    .action(bind(async (cli, { words }) => (await import("../commands/describe.ts")).describe(cli, word(words[0]))));
  program
    .command("events <source>")
    .description("Show the newest events of a source")
    .option("-n <count>", "How many", "10")
    .option("--channel <name>", "Only of this channel; $in: those that are postponed")
    .option("-f, --follow", "Go on with what comes")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/events.ts")).events(cli, word(words[0]), { n: "10", ...flags })));
  program
    .command("logs <source>")
    .description("Show what a source does, and go on with what comes")
    .option("-n <count>", "How many recent lines", "100")
    .option("--no-follow", "Stop after the recent lines")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/logs.ts")).logs(cli, word(words[0]), { n: "100", follow: true, ...flags })));
}

export function runCommands(program: Command, bind: Bind): void {
  program
    .command("run <source>")
    .description("Run a source now")
    .option("--event <file>", "JSON file with the event that run is called with")
    .option("--sample", "Emit the component's own example in place of a run")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/run.ts")).run(cli, word(words[0]), flags)));
  program
    .command("replay <source> <invocation>")
    .description("Repeat an invocation's trigger against today's code")
    .action(bind(async (cli, { words }) => (await import("../commands/run.ts")).replay(cli, word(words[0]), word(words[1]))));
  program
    .command("db <verb> <source> [key] [value]")
    .description("Read and write a source's store: get, set, list, delete")
    .action(
      bind(async (cli, { words }) => {
        const [verb, source, key, value] = words;
        const { db } = await import("../commands/db.ts");
        return db(cli, {
          verb: word(verb),
          source: word(source),
          key: maybe(key),
          value: maybe(value),
        });
      }),
    );
  program
    .command("completion <shell>")
    .description("Print a completion script for bash, zsh or fish")
    .action(bind(async (cli, { words, program: whole }) => (await import("../commands/completion.ts")).completion(cli, word(words[0]), whole)));
}
