import type { Command } from "commander";
import { type Bind, list, maybe, textsOf, word } from "./given.ts";

export function accountCommands(program: Command, bind: Bind): void {
  program
    .command("keys <verb> [name]")
    .description("Named keys of a shared server: list, create, revoke")
    .action(bind(async (cli, { words }) => (await import("../commands/keys.ts")).keys(cli, { verb: word(words[0]), name: maybe(words[1]) })));
  program
    .command("accounts <verb> [words...]")
    .description("Credentials for apps, which components use by the account's name: connect, reconnect, list, show, test, update, rename, delete")
    .option("--name <name>", "What the account is called")
    .option("--field <name=value>", "A field of its credentials, or @file; repeatable", list)
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
    .option("--redirect-uri <url>", "Another redirect address, such as one with https: you paste the address that you were sent to")
    .option("--url <url>", "What test asks, if not what is usual for the app; {field} stands for a field")
    .option("--header <name: value>", "Sent along by test; {field} stands for a field; repeatable", list)
    .option("--reveal", "Show the credentials, on a terminal")
    .option("--force", "Delete it although a source uses it")
    .option("--no-prompt", "Never ask; say what is missing")
    .action(
      bind(async (cli, { words, flags }) => (await import("../commands/accounts.ts")).accounts(cli, { verb: word(words[0]), words: textsOf(words[1]) }, flags)),
    );
  program
    .command("secrets <verb>")
    .description("How secrets are kept: rotate makes a new key and seals everything with it")
    .action(bind(async (cli, { words }) => (await import("../commands/secrets.ts")).secrets(cli, word(words[0]))));
}
