import type { Command, OptionValues } from "@commander-js/extra-typings";
import { type Run, list } from "./run.ts";

export function accountCommands(program: Command, run: Run): void {
  keyCommands(program.command("keys").description("Named keys of a shared server"), run);
  const accounts = program.command("accounts").description("Credentials for apps, which components use by the account's name");
  connectCommands(accounts, run);
  keptCommands(accounts, run);
  program
    .command("secrets")
    .description("How secrets are kept")
    .command("rotate")
    .description("Make a new key and seal everything with it")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/secrets.ts")).rotate(cli)));
}

export function configCommands(program: Command, run: Run): void {
  program
    .command("config")
    .description("What is set up once for the server")
    .command("smtp [address]")
    .description("The server that mail of workflows goes through: smtp://user@host:587 or smtps://host; without an address it is shown")
    .option("--to <address>", "Who gets the mail: you")
    .option("--from <address>", "Whom it comes from")
    .option("--password <value>", "The password; @file reads it from a file")
    .option("--security <kind>", "tls, starttls or none")
    .option("--off", "Send no mail any more")
    .action((address, flags, command) => run(command, async (cli) => (await import("../commands/config.ts")).smtp(cli, address, flags)));
}

function keyCommands(keys: Command, run: Run): void {
  keys
    .command("list", { isDefault: true })
    .description("List named keys")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/keys.ts")).list(cli)));
  keys
    .command("create <name>")
    .description("Make a key, which is shown only now")
    .option("--read-only", "It sees everything but secrets, and changes nothing")
    .action((name, flags, command) => run(command, async (cli) => (await import("../commands/keys.ts")).create(cli, name, flags)));
  keys
    .command("revoke <name>")
    .description("Revoke a key, by name or id")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/keys.ts")).revoke(cli, name)));
}

function fieldFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--name <name>", "What the account is called")
    .option("--field <name=value>", "A field of its credentials, or @file; repeatable", list)
    .option("--env <variable>", "Take the fields from a variable: JSON, or the value of the app's one field")
    .option("--stdin", "Take the fields from stdin")
    .option("--no-prompt", "Never ask; say what is missing");
}

function oauthFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--client-id <id>", "Connect by OAuth, with your own client at the provider")
    .option("--client-secret <secret>", "Its secret: @file, or the variable PD_OAUTH_CLIENT_SECRET")
    .option("--flow <flow>", "code (a browser on this machine), device (a code to enter elsewhere), client (no person)")
    .option("--scope <scope>", "In place of what is usual for the app; repeatable", list)
    .option("--authorize-url <url>", "Of a provider that is not known")
    .option("--token-url <url>", "Of a provider that is not known")
    .option("--device-url <url>", "Of a provider that is not known")
    .option("--redirect-port <port>", "Port of http://127.0.0.1:<port>/callback, which is registered at the provider (4143)")
    .option("--redirect-uri <url>", "Another redirect address, such as one with https: you paste the address that you were sent to");
}

function connectCommands(accounts: Command, run: Run): void {
  oauthFlags(fieldFlags(accounts.command("connect <app>").description("Connect an account of an app"))).action((app, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts.ts")).connectAccount(cli, app, flags)),
  );
  oauthFlags(fieldFlags(accounts.command("reconnect <account>").description("Sign in once more"))).action((account, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts.ts")).reconnectAccount(cli, account, flags)),
  );
  fieldFlags(accounts.command("update <account>").description("Give fields another value, or the account another name")).action((account, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts.ts")).update(cli, account, flags)),
  );
}

function keptCommands(accounts: Command, run: Run): void {
  accounts
    .command("list [app]", { isDefault: true })
    .description("List accounts, of one app or all")
    .action((app, _flags, command) => run(command, async (cli) => (await import("../commands/accounts.ts")).list(cli, app)));
  accounts
    .command("show <account>")
    .description("Show an account")
    .option("--reveal", "Show the credentials, on a terminal")
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts.ts")).show(cli, account, flags)));
  accounts
    .command("test <account>")
    .description("Ask the app whether it takes the account")
    .option("--url <url>", "What to ask, if not what is usual for the app; {field} stands for a field")
    .option("--header <name: value>", "Sent along; {field} stands for a field; repeatable", list)
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts.ts")).test(cli, account, flags)));
  accounts
    .command("rename <account> <name>")
    .description("Give an account another name")
    .action((account, name, _flags, command) => run(command, async (cli) => (await import("../commands/accounts.ts")).rename(cli, account, name)));
  accounts
    .command("delete <account>")
    .description("Delete an account")
    .option("--force", "Although a source uses it")
    .option("--yes", "Do not ask")
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts.ts")).remove(cli, account, flags)));
}
