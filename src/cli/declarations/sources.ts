import type { Command } from "@commander-js/extra-typings";
import { propFlags, serverFlags, settingFlags, standFlags } from "./flags.ts";
import type { Run } from "./run.ts";

function devCommand(program: Command, run: Run): void {
  const dev = program
    .command("dev <component>")
    .description("Deploy a file, a component of a registry by its key, or the folder of a workflow, and update it on every save");
  const developing = standFlags(propFlags(dev))
    .option("--dc <source>", "Attach to this deployed component")
    .option("--force", "With --dc: even if it runs another component")
    .option("--new", "Deploy another one, even if the file is already deployed")
    .option("--name <name>", "Name of the source")
    .option("--prompt-all", "Ask for every prop, even if it has a value")
    .option("--inspect [port]", "Accept a debugger, Chrome or an editor, on this port of this machine (9229)");
  serverFlags(developing).action((component, flags, command) =>
    run(command, async (cli) => (await import("../commands/sources/dev.ts")).dev(cli, component, flags)),
  );
}

export function deployCommands(program: Command, run: Run): void {
  devCommand(program, run);
  const deploy = program.command("deploy [component]");
  settingFlags(
    standFlags(
      propFlags(
        deploy.description("Deploy a component (a file, a URL of raw code, or a key) or the folder of a workflow; without one, pick from the registries"),
      ),
    ),
  )
    .option("--name <name>", "Name of the source or workflow")
    .option("--slug <slug>", "Slug, by which commands and URLs of the API name it; derived from the name by default")
    .option("--new", "Deploy another one, even if the file, folder, key or name is already deployed")
    .option("--yes", "Do not ask")
    .option("--allow-addons <true|false>", "For a workflow: whether steps may load native code of packages")
    .option("--memory <MB>", "For a workflow: JavaScript memory of each process of its steps")
    .option("--timeout <seconds>", "For a workflow: timeout of one call of a step")
    .action((component, flags, command) => run(command, async (cli) => (await import("../commands/sources/deploy.ts")).deploy(cli, component, flags)));
  updateCommand(program, run);
  program
    .command("versions <source> [version] [other]")
    .description("List the versions of a source or workflow; with one of them, its difference from the current one or another")
    .action((source, version, other, _flags, command) =>
      run(command, async (cli) => (await import("../commands/sources/versions.ts")).versions(cli, source, [version, other])),
    );
  program
    .command("rollback <source> [version]")
    .description("Go back to the previous code, or to the given version; values and state stay")
    .option("--force", "Even if the deactivate hook of the running version throws")
    .action((source, version, flags, command) =>
      run(command, async (cli) => (await import("../commands/sources/versions.ts")).rollback(cli, [source, version], flags)),
    );
  program
    .command("delete <source>")
    .description("Delete a source or workflow with its events and runs")
    .option("--force", "Even if its deactivate hook throws")
    .option("--yes", "Do not ask")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/delete.ts")).remove(cli, source, flags)));
  authorCommands(program, run);
}

function authorCommands(program: Command, run: Run): void {
  program
    .command("init <kind> <name>")
    .description("Write a template: source, action, app or workflow")
    .option("--db", "With a key-value store")
    .option("--http", "Triggered by HTTP")
    .option("--timer", "Triggered by a timer")
    .option("--ts", "In TypeScript, with a test and a tsconfig.json")
    .action((kind, name, flags, command) => run(command, async (cli) => (await import("../commands/sources/init.ts")).init(cli, { kind, name }, flags)));
  program
    .command("fixture <invocation-or-source> [event]")
    .description("Write the input of a run to a file, and a test that passes: for an invocation, or for the run that emitted an event of a source")
    .option("--file <component>", "The component's file; by default the one deployed from this machine, or else the server's code")
    .option("--record", "Call third parties once, with the accounts of the source, and store their answers")
    .option("--with-state", "Start with the current state of the source")
    .option("--force", "Overwrite existing files")
    .action((first, event, flags, command) =>
      run(command, async (cli) => (await import("../commands/sources/fixture.ts")).fixture(cli, [first, event], flags)),
    );
  program
    .command("test [paths...]")
    .description("Run the tests of components: files named *.test.ts, .mts, .mjs or .js, here or in these folders")
    .action((paths, _flags, command) => run(command, async (cli) => (await import("../commands/sources/test.ts")).test(cli, paths)));
}

function updateCommand(program: Command, run: Run): void {
  settingFlags(
    standFlags(propFlags(program.command("update <source>").description("Change the code, the name, the props or the state of a source or workflow"))),
    true,
  )
    .option("--code <component>", "New code: a file, a URL of raw code, a key, or the folder of a workflow")
    .option("--latest", "The newest code of the registry or address that it came from; shows the changes first")
    .option("--yes", "Do not ask")
    .option("--name <name>", "New name; the slug stays")
    .option("--slug <slug>", "New slug, by which commands and URLs of the API name it")
    .option("--allow-addons <true|false>", "For a workflow: whether steps may load native code of packages")
    .option("--memory <MB>", "For a workflow: JavaScript memory of each process of its steps; none restores the server's setting")
    .option("--timeout <seconds>", "For a workflow: timeout of one call of a step; none restores the timeout in its file")
    .option("--activate", "Run when triggered")
    .option("--deactivate", "Do not run when triggered")
    .option("--force", "Even if the deactivate hook of the running version throws")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/update.ts")).update(cli, source, flags)));
}

export function readCommands(program: Command, run: Run): void {
  program
    .command("open [source]")
    .description("Open the web page in a browser, or a source on it")
    .action((source, _flags, command) => run(command, async (cli) => (await import("../commands/sources/open.ts")).open(cli, source)));
  program
    .command("list [kind]")
    .description("List sources (so), workflows (wf), components or streams (st)")
    .option("--wide", "Whole values and exact times, whatever the width of the terminal")
    .action((kind, flags, command) => run(command, async (cli) => (await import("../commands/sources/list.ts")).list(cli, kind ?? "sources", flags)));
  program
    .command("describe <source>")
    .description("Show a source, or a workflow with its steps")
    .action((source, _flags, command) => run(command, async (cli) => (await import("../commands/sources/describe.ts")).describe(cli, source)));
  program
    .command("timers [source]")
    .description("Show when timers fire next; for one source or workflow, also the outcome of its planned times")
    .option("-n <count>", "Number of planned times", "20")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/timers.ts")).timers(cli, source, flags)));
  program
    .command("events [source]")
    .description("Show the newest events of a source or workflow, or of all")
    .option("-n <count>", "Number of events", "10")
    .option("--channel <name>", "Only events of this channel; $in: postponed events")
    .option("-f, --follow", "Follow new events")
    .option("-v, --verbose", "On a terminal: the payload of each event below its line")
    .option("--raw", "On a terminal: only the payloads, one per line, as in a pipe")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/events.ts")).events(cli, source, flags)));
  program
    .command("search [words...]")
    .description("Find events and runs by words of their data and logs; the server must run with --search")
    .option("--of <source>", "Of a source or workflow")
    .option("--events", "Only events")
    .option("--failed", "Only runs that failed")
    .option("--since <time>", "Since a time, or for example 2h")
    .option("-n <count>", "Number of results, up to 100", "20")
    .action((words, flags, command) => run(command, async (cli) => (await import("../commands/sources/search.ts")).search(cli, words, flags)));
  program
    .command("logs <source>")
    .description("Show the logs of a source or workflow, and follow them")
    .option("-n <count>", "Number of recent lines", "100")
    .option("--no-follow", "Stop after the recent lines")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/logs.ts")).logs(cli, source, flags)));
}

export function runCommands(program: Command, run: Run): void {
  program
    .command("run <source>")
    .description("Run a source or workflow now")
    .option("--event <json|@file|->", "Event for the run; - reads it from stdin")
    .option("--sample", "Emit the component's example in place of a run")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/sources/run.ts")).run(cli, source, flags)));
  program
    .command("replay <source> <invocation>")
    .description("Replay an invocation's trigger with the current code")
    .option("--dry", "Dry run: show the difference, and store nothing")
    .action((source, id, flags, command) => run(command, async (cli) => (await import("../commands/sources/run.ts")).replay(cli, source, { id, ...flags })));
  program
    .command("emit <source> <event>")
    .description("Emit a stored event again, by its id")
    .action((source, id, _flags, command) => run(command, async (cli) => (await import("../commands/sources/events.ts")).emitAgain(cli, source, id)));
  stateCommands(program.command("db").description("Read and write a source's store"), run);
}

function stateCommands(db: Command, run: Run): void {
  db.command("list <source>")
    .description("All keys with their values")
    .action((source, _flags, command) => run(command, async (cli) => (await import("../commands/sources/db.ts")).list(cli, source)));
  db.command("get <source> <key>")
    .description("The value of a key")
    .action((source, key, _flags, command) => run(command, async (cli) => (await import("../commands/sources/db.ts")).get(cli, source, key)));
  db.command("set <source> <key> <value>")
    .description("Set a key; a value that is not JSON is a string")
    .action((source, key, value, _flags, command) => run(command, async (cli) => (await import("../commands/sources/db.ts")).set(cli, source, { key, value })));
  db.command("delete <source> <key>")
    .description("Clear a key")
    .action((source, key, _flags, command) => run(command, async (cli) => (await import("../commands/sources/db.ts")).clear(cli, source, key)));
}
