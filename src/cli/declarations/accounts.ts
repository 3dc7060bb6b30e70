import type { Command, OptionValues } from "@commander-js/extra-typings";
import { type Run, list } from "./run.ts";

export function accountCommands(program: Command, run: Run): void {
  keyCommands(program.command("keys").description("Named keys of a shared server"), run);
  const accounts = program.command("accounts").description("Credentials for apps, which components use by the account's name");
  connectCommands(accounts, run);
  keptCommands(accounts, run);
  program
    .command("secrets")
    .description("How secrets are stored")
    .command("rotate")
    .description("Create a new key and seal all secrets with it")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/accounts/secrets.ts")).rotate(cli)));
}

export function configCommands(program: Command, run: Run): void {
  program
    .command("config")
    .description("Settings of the whole server")
    .command("smtp [address]")
    .description("Set the SMTP server for mail of workflows: smtp://user@host:587 or smtps://host; without an address, show it")
    .option("--to <address>", "Recipient of the mail: you")
    .option("--from <address>", "Sender of the mail")
    .option("--password <value>", "The password; @file reads it from a file")
    .option("--security <kind>", "tls, starttls or none")
    .option("--off", "Stop sending mail")
    .action((address, flags, command) => run(command, async (cli) => (await import("../commands/accounts/config.ts")).smtp(cli, address, flags)));
}

function keyCommands(keys: Command, run: Run): void {
  keys
    .command("list", { isDefault: true })
    .description("List named keys")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/accounts/keys.ts")).list(cli)));
  keys
    .command("create <name>")
    .description("Create a key, which is shown only once")
    .option("--read-only", "It reads everything but secrets, and changes nothing")
    .action((name, flags, command) => run(command, async (cli) => (await import("../commands/accounts/keys.ts")).create(cli, name, flags)));
  keys
    .command("revoke <name>")
    .description("Revoke a key, by name or id")
    .action((name, _flags, command) => run(command, async (cli) => (await import("../commands/accounts/keys.ts")).revoke(cli, name)));
}

function fieldFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--name <name>", "Name of the account")
    .option("--field <name=value>", "A field of its credentials, or @file; repeatable", list)
    .option("--env <variable>", "Read the fields from a variable: JSON, or the value of the app's only field")
    .option("--stdin", "Read the fields from stdin")
    .option("--no-prompt", "Never ask; fail if a value is missing");
}

function oauthFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--client-id <id>", "Connect by OAuth, with your own client at the provider")
    .option("--client-secret <secret>", "Its secret: @file, or the variable PD_OAUTH_CLIENT_SECRET")
    .option("--flow <flow>", "code (a browser on this machine), device (a code to enter elsewhere), client (no person)")
    .option("--scope <scope>", "Scope in place of the app's defaults; repeatable", list)
    .option("--authorize-url <url>", "Sign-in page of an unknown provider")
    .option("--token-url <url>", "Token address of an unknown provider")
    .option("--device-url <url>", "Device address of an unknown provider")
    .option("--redirect-port <port>", "Port of http://127.0.0.1:<port>/callback, which is registered at the provider (4143)")
    .option("--redirect-uri <url>", "Another redirect address, such as an https one: you paste the address that you were sent to");
}

function connectCommands(accounts: Command, run: Run): void {
  oauthFlags(fieldFlags(accounts.command("connect <app>").description("Connect an account of an app"))).action((app, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).connectAccount(cli, app, flags)),
  );
  oauthFlags(fieldFlags(accounts.command("reconnect <account>").description("Sign in once more"))).action((account, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).reconnectAccount(cli, account, flags)),
  );
  fieldFlags(accounts.command("update <account>").description("Change the fields or the name of an account")).action((account, flags, command) =>
    run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).update(cli, account, flags)),
  );
}

function keptCommands(accounts: Command, run: Run): void {
  accounts
    .command("list [app]", { isDefault: true })
    .description("List accounts, of one app or all")
    .action((app, _flags, command) => run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).list(cli, app)));
  accounts
    .command("show <account>")
    .description("Show an account")
    .option("--reveal", "Show the credentials, on a terminal")
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).show(cli, account, flags)));
  accounts
    .command("test <account>")
    .description("Test whether the app accepts the account")
    .option("--url <url>", "Address to request in place of the app's default; {field} inserts a field")
    .option("--header <name: value>", "Header of the request; {field} inserts a field; repeatable", list)
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).test(cli, account, flags)));
  accounts
    .command("rename <account> <name>")
    .description("Rename an account")
    .action((account, name, _flags, command) => run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).rename(cli, account, name)));
  accounts
    .command("delete <account>")
    .description("Delete an account")
    .option("--force", "Even if a source uses it")
    .option("--yes", "Do not ask")
    .action((account, flags, command) => run(command, async (cli) => (await import("../commands/accounts/accounts.ts")).remove(cli, account, flags)));
}
