/** Every command with its flags. What a command does is loaded when it runs. */
import { Command, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../config.ts";
import type { CliContext } from "./context.ts";

export interface Given {
  /** Positional words, in the order of the declaration. */
  readonly words: readonly unknown[];
  readonly flags: Record<string, never>;
  readonly program: Command;
}

export type Work = (cli: CliContext, given: Given) => Promise<number>;
export type Bind = (work: Work) => (...given: unknown[]) => Promise<void>;

/** The program, whose commands are bound to their work. */
export function buildProgram(bind: Bind): Command {
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
  componentCommands(program, bind);
  webhookCommands(program, bind);
  remoteCommands(program, bind);
  for (const command of program.commands) {
    command.addOption(new Option("--home <folder>", `${SETTINGS.home.help} (PD_HOME)`));
    if (command.name() !== "doctor") command.option("--json", "Answer with JSON on stdout");
    command.option("-p, --profile <name>", "For the server of this profile (pd login); local is this machine's");
  }
  return program;
}

const word = (value: unknown): string => String(value);
const maybe = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
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
    .option("--import <module>", "Module that is loaded before the component: a file or a package; repeatable", list)
    .option("--no-prompt", "Never ask; say what is missing");
}

function serverCommands(program: Command, bind: Bind): void {
  serverFlags(program.command("up").description("Start the server"))
    .option("--detach", "Start it in the background")
    .action(bind(async (cli, { flags }) => (await import("./commands/up.ts")).up(cli, flags)));
  serverFlags(program.command("serve").description("Start the server for a host that others reach; wants named keys (pd keys)")).action(
    bind(async (cli) => (await import("./commands/up.ts")).serve(cli)),
  );
  program
    .command("keys <verb> [name]")
    .description("Named keys of a shared server: list, create, revoke")
    .action(bind(async (cli, { words }) => (await import("./commands/keys.ts")).keys(cli, { verb: word(words[0]), name: maybe(words[1]) })));
  program
    .command("accounts <verb> [words...]")
    .description("Credentials for apps, which components use by the account's name: connect, reconnect, list, show, test, update, rename, delete")
    .option("--name <name>", "What the account is called")
    .option("--field <name=value>", "A field of its credentials; repeatable", list)
    .option("--env <variable>", "Take the fields from a variable: JSON, or the value of the app's one field")
    .option("--stdin", "Take the fields from stdin")
    .option("--client-id <id>", "Connect by OAuth, with your own client at the provider")
    .option("--client-secret <secret>", "Its secret: @file, or the variable PD_OAUTH_CLIENT_SECRET")
    .option("--flow <flow>", "code (a browser on this machine), device (a code to enter elsewhere), client (no person)")
    .option("--scope <scope>", "In place of what is usual for the app; repeatable", list)
    .option("--authorize-url <url>", "Of a provider that is not known")
    .option("--token-url <url>", "Of a provider that is not known")
    .option("--device-url <url>", "Of a provider that is not known")
    .option("--redirect-port <port>", "Port of http://127.0.0.1:<port>/callback, which is registered at the provider (4143)")
    .option("--url <url>", "What test asks, if not what is usual for the app; {field} stands for a field")
    .option("--header <name: value>", "Sent along by test; {field} stands for a field; repeatable", list)
    .option("--reveal", "Show the credentials, on a terminal")
    .option("--force", "Delete it although a source uses it")
    .option("--no-prompt", "Never ask; say what is missing")
    .action(
      bind(async (cli, { words, flags }) => (await import("./commands/accounts.ts")).accounts(cli, { verb: word(words[0]), words: texts(words[1]) }, flags)),
    );
  program
    .command("secrets <verb>")
    .description("How secrets are kept: rotate makes a new key and seals everything with it")
    .action(bind(async (cli, { words }) => (await import("./commands/secrets.ts")).secrets(cli, word(words[0]))));
  serverFlags(program.command("doctor").description("Tell of every component in a folder whether it can be deployed here, and why not"))
    .option("--registry <folder>", "A checkout of components")
    .option("--grep <text>", "Only those whose path or key has this text")
    .option("--json [file]", "The whole report as JSON, on stdout or in a file")
    .action(bind(async (cli, { flags }) => (await import("./commands/doctor.ts")).doctor(cli, flags)));
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
  propFlags(serverFlags(program.command("dev <component>").description("Deploy a file, or a component of a registry by its key, and update it on every save")))
    .option("--dc <id>", "Attach to this deployed component")
    .option("--name <name>", "Name of the source")
    .option("--prompt-all", "Ask for every prop, also those that have a value")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/dev.ts")).dev(cli, word(words[0]), flags)));
  propFlags(program.command("deploy [component]").description("Deploy a component: a file, a URL of raw code, or a key; without one, pick from the registries"))
    .option("--name <name>", "Name of the source")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/deploy.ts")).deploy(cli, maybe(words[0]), flags)));
  propFlags(program.command("update <source>").description("Change the code, the name, the props or the state of a source"))
    .option("--code <component>", "New code: a file, a URL of raw code, or a key")
    .option("--latest", "The newest code of the registry or address that it came from; shows what changes first")
    .option("--yes", "Do not ask whether to go on")
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
    .option("--channel <name>", "Only of this channel; $in: those that are postponed")
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
    .option("--sample", "Emit the component's own example in place of a run")
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
          key: maybe(key),
          value: maybe(value),
        });
      }),
    );
  program
    .command("completion <shell>")
    .description("Print a completion script for bash, zsh or fish")
    .action(bind(async (cli, { words, program: whole }) => (await import("./commands/completion.ts")).completion(cli, word(words[0]), whole)));
}

function componentCommands(program: Command, bind: Bind): void {
  propFlags(program.command("run-action <component>").description("Run an action once: a file, a URL of raw code, or a key"))
    .option("--steps <file>", "JSON file with the outputs of earlier steps")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/run-action.ts")).runAction(cli, word(words[0]), flags)));
  propFlags(program.command("options <component> <prop>").description("List a page of the choices of a prop, of a file, a URL, a key or a source"))
    .option("--page <n>", "Which page, from 0")
    .option("--query <text>", "What is searched for")
    .option("--context <json>", "Context of the page before")
    .action(
      bind(async (cli, { words, flags }) => (await import("./commands/options.ts")).options(cli, { target: word(words[0]), prop: word(words[1]) }, flags)),
    );
  program
    .command("registry <verb> [words...]")
    .description("Where components are found by key: list, add, remove, search, update")
    .option("--name <name>", "Name of a registry that is added")
    .option("--limit <n>", "How many a search shows")
    .option("--type <type>", "Search for sources or actions alone: source, action")
    .action(
      bind(async (cli, { words, flags }) => (await import("./commands/registry.ts")).registry(cli, { verb: word(words[0]), words: texts(words[1]) }, flags)),
    );
  program
    .command("publish <component>")
    .description("Keep a component under its key, in a version that is new")
    .option("--connect-environment <name>", "Taken for compatibility; there is one environment")
    .action(bind(async (cli, { words }) => (await import("./commands/publish.ts")).publish(cli, word(words[0]))));
  program
    .command("unpublish <words...>")
    .description("Take away what was published: component <key>")
    .option("--only <version>", "This version alone")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/publish.ts")).unpublish(cli, texts(words[0]), flags)));
  program
    .command("stores <verb> [words...]")
    .description("Data stores, which components share: list, create, delete, show, get, set, unset")
    .option("--force", "Delete it although a source uses it")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/stores.ts")).stores(cli, { verb: word(words[0]), words: texts(words[1]) }, flags)));
}

function webhookCommands(program: Command, bind: Bind): void {
  program
    .command("webhooks <verb> [id-or-url]")
    .description("Webhooks: list, show, create, update, delete, test, rotate")
    .option("--name <name>", "Name, for your own reference")
    .option("--description <text>", "Longer description")
    .option("--url <url>", "Another address")
    .option("--activate", "Deliver again")
    .option("--deactivate", "Deliver no more")
    .option("--replay-missed", "Deliver what it missed while it was inactive")
    .option("--event <file>", "JSON file with the event that a test sends")
    .action(
      bind(async (cli, { words, flags }) => (await import("./commands/webhooks.ts")).webhooks(cli, { verb: word(words[0]), target: maybe(words[1]) }, flags)),
    );
  program
    .command("subscribe <source> <url>")
    .description("Deliver the events of a source to an address: a webhook and its subscription")
    .option("--channel <name>", "Another channel than the default one, such as $errors")
    .option("--name <name>", "Name of the webhook")
    .action(
      bind(async (cli, { words, flags }) => (await import("./commands/webhooks.ts")).subscribe(cli, { source: word(words[0]), url: word(words[1]) }, flags)),
    );
  program
    .command("subscriptions <verb> [emitter] [listener]")
    .description("Who gets what from whom: list, create, delete")
    .option("--channel <name>", "Another channel than the default one", "")
    .action(
      bind(async (cli, { words, flags }) => {
        const { subscriptions } = await import("./commands/subscriptions.ts");
        return subscriptions(cli, { verb: word(words[0]), emitter: maybe(words[1]), listener: maybe(words[2]), channel: "", ...flags });
      }),
    );
  program
    .command("deliveries <webhook-or-delivery> [target]")
    .description("Deliveries to a webhook, attempts of one; deliveries retry <delivery-or-webhook> delivers again")
    .option("--failed", "Only those that have failed")
    .option("--state <state>", "Only those that are pending, delivered, failed or missed")
    .option("--since <time>", "With retry: since 2h, 3d, or a date")
    .option("-n <count>", "How many", "20")
    .action(
      bind(async (cli, { words, flags }) =>
        (await import("./commands/deliveries.ts")).deliveries(cli, { what: word(words[0]), target: maybe(words[1]) }, flags),
      ),
    );
  program
    .command("listen <source>")
    .description("Deliver new events to a local address, without making a webhook")
    .requiredOption("--forward <url>", "Where to, such as http://localhost:3000/path")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/listen.ts")).listen(cli, word(words[0]), flags)));
}

/** Flags of what travels between servers. */
function transferFlags(command: Command): Command {
  return propFlags(command)
    .option("--all", "Every source")
    .option("--with-secrets", "Secrets, credentials and variables as well")
    .option("--with-state", "The key-value store and the dedupe memory as well")
    .option("--events <count>", "The newest events as well, to a source that is new there", "0")
    .option("--dry-run", "Show the plan, and change nothing");
}

function remoteCommands(program: Command, bind: Bind): void {
  const names = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
  program
    .command("login")
    .description("Keep the key of a server: under -p <name>, or as the one that is used by default")
    .option("--base-url <url>", "Address of the server's API")
    .action(bind(async (cli, { flags }) => (await import("./commands/login.ts")).login(cli, flags)));
  program
    .command("logout")
    .description("Forget the key of a server")
    .action(bind(async (cli) => (await import("./commands/login.ts")).logout(cli)));
  transferFlags(program.command("push [source...]").description("Bring sources to another server"))
    .option("--to <profile>", "The other server")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/transfer.ts")).push(cli, names(words[0]), flags)));
  transferFlags(program.command("pull [source...]").description("Fetch sources from another server, or from the hosted platform (--from pipedream)"))
    .option("--from <profile>", "The other server")
    .action(bind(async (cli, { words, flags }) => (await import("./commands/transfer.ts")).pull(cli, names(words[0]), flags)));
}
