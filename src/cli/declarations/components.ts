import type { Command } from "commander";
import { propFlags } from "./flags.ts";
import { type Bind, textsOf, word } from "./given.ts";

export function componentCommands(program: Command, bind: Bind): void {
  propFlags(program.command("run-action <component>").description("Run an action once: a file, a URL of raw code, or a key"))
    .option("--steps <file>", "JSON file with the outputs of earlier steps")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/run-action.ts")).runAction(cli, word(words[0]), flags)));
  propFlags(program.command("options <component> <prop>").description("List a page of the choices of a prop, of a file, a URL, a key or a source"))
    .option("--page <n>", "Which page, from 0")
    .option("--query <text>", "What is searched for")
    .option("--context <json>", "Context of the page before")
    .action(
      bind(async (cli, { words, flags }) => (await import("../commands/options.ts")).options(cli, { target: word(words[0]), prop: word(words[1]) }, flags)),
    );
  program
    .command("registry <verb> [words...]")
    .description("Where components are found by key: list, add, remove, search, update")
    .option("--name <name>", "Name of a registry that is added")
    .option("--limit <n>", "How many a search shows")
    .option("--type <type>", "Search for sources or actions alone: source, action")
    .action(
      bind(async (cli, { words, flags }) => (await import("../commands/registry.ts")).registry(cli, { verb: word(words[0]), words: textsOf(words[1]) }, flags)),
    );
  program
    .command("publish <component>")
    .description("Keep a component under its key, in a version that is new")
    .option("--connect-environment <name>", "Taken for compatibility; there is one environment")
    .action(bind(async (cli, { words }) => (await import("../commands/publish.ts")).publish(cli, word(words[0]))));
  program
    .command("unpublish <words...>")
    .description("Take away what was published: component <key>")
    .option("--only <version>", "This version alone")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/publish.ts")).unpublish(cli, textsOf(words[0]), flags)));
  program
    .command("stores <verb> [words...]")
    .description("Data stores, which components share: list, create, delete, show, get, set, unset")
    .option("--force", "Delete it although a source uses it")
    .action(
      bind(async (cli, { words, flags }) => (await import("../commands/stores.ts")).stores(cli, { verb: word(words[0]), words: textsOf(words[1]) }, flags)),
    );
}
