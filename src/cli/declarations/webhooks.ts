import type { Command } from "commander";
import { type Bind, maybe, word } from "./given.ts";

export function webhookCommands(program: Command, bind: Bind): void {
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
      bind(async (cli, { words, flags }) => (await import("../commands/webhooks.ts")).webhooks(cli, { verb: word(words[0]), target: maybe(words[1]) }, flags)),
    );
  program
    .command("subscribe <source> <url>")
    .description("Deliver the events of a source to an address: a webhook and its subscription")
    .option("--channel <name>", "Another channel than the default one, such as $errors")
    .option("--name <name>", "Name of the webhook")
    .action(
      bind(async (cli, { words, flags }) => (await import("../commands/webhooks.ts")).subscribe(cli, { source: word(words[0]), url: word(words[1]) }, flags)),
    );
  program
    .command("subscriptions <verb> [emitter] [listener]")
    .description("Who gets what from whom: list, create, delete")
    .option("--channel <name>", "Another channel than the default one", "")
    .action(
      bind(async (cli, { words, flags }) => {
        const { subscriptions } = await import("../commands/subscriptions.ts");
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
        (await import("../commands/deliveries.ts")).deliveries(cli, { what: word(words[0]), target: maybe(words[1]) }, flags),
      ),
    );
  program
    .command("listen <source>")
    .description("Deliver new events to a local address, without making a webhook")
    .requiredOption("--forward <url>", "Where to, such as http://localhost:3000/path")
    .action(bind(async (cli, { words, flags }) => (await import("../commands/listen.ts")).listen(cli, word(words[0]), flags)));
}
