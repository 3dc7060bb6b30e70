import { CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type GivenSettings, SETTINGS } from "../config.ts";
import type { CliContext } from "./context.ts";
import { messageOf } from "../domain/errors.ts";
import { watchOutput } from "./own-output.ts";
import { buildProgram } from "./program.ts";
import { forTerminal } from "./terminal-text.ts";

/** 0 is success, 1 any other failure. */
const WRONG_USAGE = 2;

export interface CliPlace extends Pick<CliContext, "stdin" | "stdout" | "stderr" | "environment" | "spawnServer"> {}

/** A getter: reading `process.stdin` opens the stream, which few commands need. */
const OWN_PLACE: CliPlace = {
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
};

/** Returns the exit code. Commands are imported when they run, because every start loads this file. */
export async function main(argv: readonly string[], place?: CliPlace): Promise<number> {
  const words = commandFirst(argv);
  const streams = place ?? OWN_PLACE;
  const outputFailure = watchOutput(streams.stdout);
  // Nothing can report a failure of stderr.
  streams.stderr.on("error", () => {});
  const exitCode = await perform(words, streams);
  // Streams emit errors in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  const failure = outputFailure();
  if (failure === undefined) return exitCode;
  streams.stderr.write(`Error: The output is incomplete: ${messageOf(failure)}\n`);
  return exitCode === 0 ? 1 : exitCode;
}

async function perform(argv: readonly string[], streams: CliPlace): Promise<number> {
  let exitCode = 0;
  const program = buildProgram(async (command, work) => {
    const cli = contextOf(command, streams);
    exitCode = await work(cli).catch(async (error: unknown) => {
      const { isWrongUsage, printError } = await import("./reporter.ts");
      printError(cli, error);
      return isWrongUsage(error) ? WRONG_USAGE : 1;
    });
  }, argv);
  const isJson = argv.includes("--json");
  program.exitOverride().configureOutput({
    writeOut: (text) => streams.stdout.write(text),
    writeErr: (text) => void (isJson || streams.stderr.write(forTerminal(text))),
  });
  const help = helpFor(program, argv);
  program.showHelpAfterError(`(${help})`);
  inherit(program);
  const [first, topic] = argv;
  const isUnknownTopic = first === "help" && topic !== undefined && !program.commands.some((command) => command.name() === topic);
  try {
    if (isUnknownTopic) program.error(`error: unknown command '${topic}'`, { exitCode: WRONG_USAGE });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (isJson) streams.stdout.write(`${forTerminal(JSON.stringify({ error: wrongUsage(error, help) }))}\n`);
    return WRONG_USAGE;
  }
  return exitCode;
}

/** The error as --json prints it. */
function wrongUsage({ message }: CommanderError, fix: string): object {
  const isWordMissing = message === "(outputHelp)";
  return {
    code: "PD_BAD_INPUT",
    message: isWordMissing ? "no subcommand is given" : message.replace(/^error: /, ""),
    fix,
  };
}

function helpFor({ commands }: CommandUnknownOpts, [first]: readonly string[]): string {
  return commands.some((command) => command.name() === first) ? `pd help ${first} shows its usage` : "pd help lists the commands";
}

/** Commander copies them only into commands that are created later. */
function inherit(command: CommandUnknownOpts): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
}

function contextOf(command: CommandUnknownOpts, place: CliPlace): CliContext {
  const all: Record<string, unknown> = command.optsWithGlobals();
  // Options without a help group belong to the command, such as --timeout of pd run-action, and are no server settings.
  const own = new Set(command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined).map((option) => option.attributeName()));
  const flags: GivenSettings = Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([name, { flag }]) => {
      const attribute = flag.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
      const value: unknown = own.has(attribute) ? undefined : all[attribute];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
  const { spawnServer } = place;
  return {
    get stdin() {
      return place.stdin;
    },
    stdout: place.stdout,
    stderr: place.stderr,
    environment: place.environment,
    ...(spawnServer === undefined ? {} : { spawnServer }),
    isJson: all["json"] === true,
    flags,
    profile: typeof all["profile"] === "string" ? all["profile"] : undefined,
  };
}

const WITH_VALUE = new Set(["--home", "-p", "--profile"]);

/** Global flags may precede it, as in `pd -p work list`. */
export function commandFirst(words: readonly string[]): readonly string[] {
  const at = indexOfCommand(words);
  const command = words[at];
  return at === 0 || command === undefined || command.startsWith("-") ? words : [command, ...words.slice(0, at), ...words.slice(at + 1)];
}

function indexOfCommand(words: readonly string[]): number {
  let at = 0;
  for (let word = words[0]; word !== undefined && isGlobal(word); word = words[at]) at += WITH_VALUE.has(word) ? 2 : 1;
  return at;
}

function isGlobal(word: string): boolean {
  return WITH_VALUE.has(word) || word === "--json" || /^(--home=|--profile=|-p[^-])/.test(word);
}
