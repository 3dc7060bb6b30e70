import { Command, CommanderError, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type GivenSettings, SETTINGS } from "../config.ts";
import type { CliContext } from "./context.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
const WRONG_USAGE = 2;

export interface CliStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Runs one command. What it does is loaded only then: every start of `pd` reads this file, and little else. */
export async function main(argv: readonly string[], streams: CliStreams = process): Promise<number> {
  let exitCode = 0;
  // A reader that has gone away, as head does, is no failure of the command.
  for (const stream of [streams.stdout, streams.stderr]) stream.on("error", () => {});
  const program = buildProgram((work) => async (...given: unknown[]) => {
    const command = given.at(-1);
    if (!(command instanceof Command)) return;
    const cli = contextOf(command, streams);
    exitCode = await work(cli, { words: command.processedArgs, flags: command.opts(), program }).catch(async (error: unknown) => {
      const { isWrongUsage, printError } = await import("./reporter.ts");
      printError(cli, error);
      return isWrongUsage(error) ? WRONG_USAGE : 1;
    });
  });
  program.exitOverride().configureOutput({ writeOut: (text) => streams.stdout.write(text), writeErr: (text) => streams.stderr.write(text) });
  for (const command of program.commands) command.copyInheritedSettings(program);
  const [first, topic] = argv;
  const isUnknownTopic = first === "help" && topic !== undefined && !program.commands.some((command) => command.name() === topic);
  try {
    if (isUnknownTopic) program.error(`error: unknown command '${topic}'`, { exitCode: WRONG_USAGE });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : WRONG_USAGE;
  }
  return exitCode;
}

function contextOf(command: Command, { stdin, stdout, stderr }: CliStreams): CliContext {
  const all = command.optsWithGlobals();
  const flags: GivenSettings = Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([name, { flag }]) => {
      const value: unknown = all[flag.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase())];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
  return { stdin, stdout, stderr, environment: process.env, isJson: all["json"] === true, flags };
}

interface Given {
  /** Positional words, in the order of the declaration. */
  readonly words: readonly unknown[];
  readonly flags: Record<string, never>;
  readonly program: Command;
}

type Work = (cli: CliContext, given: Given) => Promise<number>;
type Bind = (work: Work) => (...given: unknown[]) => Promise<void>;

function buildProgram(bind: Bind): Command {
  const program = new Command("pd")
    .description("Runs event-source components on your own machine")
    .version(manifest.version, "--version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand("help [command]", "Show help for a command")
    .showHelpAfterError("(pd help shows what there is)");
  serverCommands(program, bind);
  deployCommands(program, bind);
  readCommands(program, bind);
  runCommands(program, bind);
  for (const command of program.commands) {
    command.addOption(new Option("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    command.option("--json", "Answer with JSON on stdout");
  }
  return program;
}

const word = (value: unknown): string => String(value);
const list = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Flags of commands that may start a server. */
function serverFlags(command: Command): Command {
  for (const [name, row] of Object.entries(SETTINGS)) {
    if (name !== "home")
      command.addOption(new Option(`--${row.flag} ${row.value}`, `${row.help} (${row.variable}, default ${row.default === "" ? "none" : row.default})`));
  }
  return command;
}

/** Flags that give props and variables. */
function propFlags(command: Command): Command {
  return command
    .option("--prop <name=value>", "Value of a prop; @file reads it from a file; repeatable", list)
    .option("--props <file>", "Values of props from a JSON file")
    .option("--env <NAME=value>", "Variable for this source's process; repeatable", list)
    .option("--env-file <file>", "Variables from a file")
    .option("--no-prompt", "Never ask; say what is missing");
}

function serverCommands(program: Command, bind: Bind): void {
  serverFlags(program.command("up").description("Start the server"))
    .option("--detach", "Start it in the background")
    .action(bind(async (cli, { flags }) => (await import("./commands/up.ts")).up(cli, flags)));
  program
    .command("down")
    .description("Stop the server")
    .action(bind(async (cli) => (await import("./commands/down.ts")).down(cli)));
  program
    .command("status")
    .description("Tell whether a server runs")
    .action(bind(async (cli) => (await import("./commands/status.ts")).status(cli)));
}

function deployCommands(program: Command, bind: Bind): void {
  propFlags(serverFlags(program.command("dev <file>").description("Deploy a file and update it on every save")))
    .option("--dc <id>", "Attach to this deployed component")
    .option("--name <name>", "Name of the source")
    .option("--prompt-all", "Ask for every prop, also those that have a value")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/dev.ts")).dev(cli, word(words[0]), flags)));
  propFlags(program.command("deploy <file-or-url>").description("Deploy a component from a file or a URL of raw code"))
    .option("--name <name>", "Name of the source")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/deploy.ts")).deploy(cli, word(words[0]), flags)));
  propFlags(program.command("update <source>").description("Change the code, the name, the props or the state of a source"))
    .option("--code <file-or-url>", "New code")
    .option("--name <name>", "New name")
    .option("--activate", "Run again when triggered")
    .option("--deactivate", "Run no more")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/update.ts")).update(cli, word(words[0]), flags)));
  program
    .command("delete <source>")
    .description("Delete a source with its events")
    .option("--force", "Although its deactivate hook throws")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/delete.ts")).remove(cli, word(words[0]), flags)));
  program
    .command("init <kind> <name>")
    .description("Write a component to begin with: source, action or app")
    .option("--db", "With a key-value store")
    .option("--http", "Triggered by HTTP")
    .option("--timer", "Triggered by a timer")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/init.ts")).init(cli, { kind: word(words[0]), name: word(words[1]) }, flags)));
}

function readCommands(program: Command, bind: Bind): void {
  program
    .command("list [kind]")
    .description("List sources (so), components or streams (st)")
    .action(bind(async (cli, { words }) => (await import("./commands/list.ts")).list(cli, word(words[0] ?? "sources"))));
  program
    .command("describe <source>")
    .description("Show a source")
    .action(bind(async (cli, { words }) => (await import("./commands/describe.ts")).describe(cli, word(words[0]))));
  program
    .command("events <source>")
    .description("Show the newest events of a source")
    .option("-n <count>", "How many", "10")
    .option("-f, --follow", "Go on with what comes")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/events.ts")).events(cli, word(words[0]), { n: "10", ...flags })));
  program
    .command("logs <source>")
    .description("Show what a source does, and go on with what comes")
    .option("-n <count>", "How many recent lines", "100")
    .option("--no-follow", "Stop after the recent lines")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/logs.ts")).logs(cli, word(words[0]), { n: "100", follow: true, ...flags })));
}

function runCommands(program: Command, bind: Bind): void {
  program
    .command("run <source>")
    .description("Run a source now")
    .option("--event <file>", "JSON file with the event that run is called with")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/run.ts")).run(cli, word(words[0]), flags)));
  program
    .command("replay <source> <invocation>")
    .description("Repeat an invocation's trigger against today's code")
    .action(bind(async (cli, { words }) => (await import("./commands/run.ts")).replay(cli, word(words[0]), word(words[1]))));
  program
    .command("db <verb> <source> [key] [value]")
    .description("Read and write a source's store: get, set, list, delete")
    .action(
      bind(async (cli, { words }) => {
        const [verb, source, key, value] = words;
        const { db } = await import("./commands/db.ts");
        return db(cli, {
          verb: word(verb),
          source: word(source),
          key: key === undefined ? undefined : word(key),
          value: value === undefined ? undefined : word(value),
        });
      }),
    );
  program
    .command("completion <shell>")
    .description("Print a completion script for bash, zsh or fish")
    .action(bind(async (cli, { words, program: whole }) => (await import("./commands/completion.ts")).completion(cli, word(words[0]), whole)));
}
