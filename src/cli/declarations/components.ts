import type { Command } from "@commander-js/extra-typings";
import { propFlags } from "./flags.ts";
import type { Run } from "./run.ts";

export function componentCommands(program: Command, run: Run): void {
  propFlags(program.command("run-action <component>").description("Run an action once: a file, a URL of raw code, or a key"))
    .option("--steps <file>", "JSON file with the outputs of earlier steps")
    .option("--allow-run <true|false>", "Whether it may start programs of this machine, inside the wall")
    .option("--allow-addons <true|false>", "Whether it may load native code of packages")
    .option("--memory <MB>", "JavaScript memory of its process")
    .option("--timeout <seconds>", "Timeout of the run")
    .action((component, flags, command) =>
      run(command, async (cli) => (await import("../commands/components/run-action.ts")).runAction(cli, component, flags)),
    );
  propFlags(
    program.command("options <component> <prop>").description("List a page of the choices of a prop; the component is a file, a URL, a key or a source"),
  )
    .option("--page <n>", "Which page, from 0", "0")
    .option("--query <text>", "Search text")
    .option("--context <json>", "Context of the previous page")
    .action((target, prop, flags, command) =>
      run(command, async (cli) => (await import("../commands/components/options.ts")).options(cli, { target, prop }, flags)),
    );
  program
    .command("publish <component>")
    .description("Publish a component under its key, in a new version")
    .option("--connect-environment <name>", "Accepted for compatibility; only one environment exists")
    .action((component, _flags, command) => run(command, async (cli) => (await import("../commands/components/publish.ts")).publish(cli, component)));
  program
    .command("unpublish <words...>")
    .description("Remove a published component: component <key>")
    .option("--only <version>", "Only this version")
    .action((words, flags, command) => run(command, async (cli) => (await import("../commands/components/publish.ts")).unpublish(cli, words, flags)));
  registryCommands(program.command("registry").description("Registries, where components are found by key"), run);
  storeCommands(program.command("stores").description("Data stores, which components share"), run);
}

function registryCommands(registry: Command, run: Run): void {
  registry
    .command("list", { isDefault: true })
    .description("List registries, in search order")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/components/registry.ts")).list(cli)));
  registry
    .command("add <location>")
    .description("Add a folder, an npm scope, a Git repository or a tarball")
    .option("--name <name>", "Name of the registry")
    .action((location, flags, command) => run(command, async (cli) => (await import("../commands/components/registry.ts")).add(cli, location, flags)));
  registry
    .command("remove <name>")
    .description("Remove a registry; components deployed from it stay")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/components/registry.ts")).remove(cli, name)));
  registry
    .command("update [name] [app]")
    .description("Fetch the newest components of one registry or all, for one app or all fetched ones")
    .action((name, app, _flags, command) => run(command, async (cli) => (await import("../commands/components/registry.ts")).update(cli, name, app)));
  registry
    .command("search [words...]")
    .description("Find components by words of their name, key or description")
    .option("--limit <n>", "Number of results", "20")
    .option("--type <type>", "Only this type: source or action")
    .action((words, flags, command) => run(command, async (cli) => (await import("../commands/components/registry.ts")).search(cli, words, flags)));
}

function storeCommands(stores: Command, run: Run): void {
  stores
    .command("list", { isDefault: true })
    .description("List data stores")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).list(cli)));
  stores
    .command("create <name>")
    .description("Create a data store")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).create(cli, name)));
  stores
    .command("delete <name>")
    .description("Delete a data store with its values")
    .option("--force", "Even if a source or workflow uses it")
    .option("--yes", "Do not ask")
    .action((name, flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).remove(cli, name, flags)));
  stores
    .command("show <name>")
    .description("Show all values of a data store")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).show(cli, name)));
  stores
    .command("get <name> <key>")
    .description("A value")
    .action((name, key, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).get(cli, name, key)));
  stores
    .command("set <name> <key> <value>")
    .description("Set a value; a value that is not JSON is a string")
    .option("--ttl <seconds>", "Time until the value expires")
    .action((name, key, value, flags, command) =>
      run(command, async (cli) => (await import("../commands/components/stores.ts")).set(cli, name, { key, value, ...flags })),
    );
  stores
    .command("keys <name>")
    .description("List the keys of a data store, and when their values expire")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).keys(cli, name)));
  stores
    .command("unset <name> <key>")
    .description("Delete a value")
    .action((name, key, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).unset(cli, name, key)));
  stores
    .command("import <file>")
    .description("Set values from a JSON file, as store, key and value; missing stores are created")
    .action((file, _flags, command) => run(command, async (cli) => (await import("../commands/components/stores.ts")).importValues(cli, file)));
}
