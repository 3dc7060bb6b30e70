import type { Command } from "@commander-js/extra-typings";
import type { Run } from "./run.ts";

export function webhookCommands(program: Command, run: Run): void {
  const webhooks = program.command("webhooks").description("Webhooks, to which events are delivered");
  keptWebhooks(webhooks, run);
  changedWebhooks(webhooks, run);
  program
    .command("subscribe <source> <url>")
    .description("Deliver the events of a source to an address: a webhook and its subscription")
    .option("--channel <name>", "Another channel than the default one, such as $errors")
    .option("--name <name>", "Name of the webhook")
    .action((source, url, flags, command) =>
      run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).subscribe(cli, { source, url }, flags)),
    );
  subscriptionCommands(program.command("subscriptions").description("Subscriptions of listeners to emitters"), run);
  deliveryCommands(program, run);
  alertCommands(program.command("alerts").description("Messages when something fails, by mail or to a webhook"), run);
  program
    .command("listen <source>")
    .description("Deliver new events to a local address, without creating a webhook")
    .requiredOption("--forward <url>", "Target address, such as http://localhost:3000/path")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/listen.ts")).listen(cli, source, flags)));
}

function alertCommands(alerts: Command, run: Run): void {
  alerts
    .command("list", { isDefault: true })
    .description("List alerts")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/webhooks/alerts.ts")).list(cli)));
  alerts
    .command("add [source]")
    .description("Tell about failures of a source or workflow, or of everything, in groups")
    .option("--mail", "By mail, to the address of pd config smtp")
    .option("--webhook <id|name|url>", "To a webhook")
    .option("--daily", "Also a summary of each day")
    .action((source, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/alerts.ts")).add(cli, source, flags)));
  alerts
    .command("delete <id>")
    .description("Delete an alert")
    .action((id, _flags, command) => run(command, async (cli) => (await import("../commands/webhooks/alerts.ts")).remove(cli, id)));
  alerts
    .command("test <id>")
    .description("Send a test message now")
    .action((id, _flags, command) => run(command, async (cli) => (await import("../commands/webhooks/alerts.ts")).test(cli, id)));
}

function keptWebhooks(webhooks: Command, run: Run): void {
  webhooks
    .command("list", { isDefault: true })
    .description("List webhooks")
    .option("--wide", "Whole values, whatever the width of the terminal")
    .action((flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).list(cli, flags)));
  webhooks
    .command("show <id>")
    .description("Show a webhook")
    .action((id, _flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).show(cli, id)));
  webhooks
    .command("delete <id>")
    .description("Delete a webhook with its subscriptions and deliveries")
    .option("--yes", "Do not ask")
    .action((id, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).remove(cli, id, flags)));
  webhooks
    .command("rotate <id>")
    .description("Create a new signing key; the old one also signs for a day")
    .action((id, _flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).rotate(cli, id)));
  webhooks
    .command("test <id>")
    .description("Send a message now and show the response")
    .option("--event <json|@file|->", "Event that is sent; - reads it from stdin")
    .action((id, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).test(cli, id, flags)));
}

function changedWebhooks(webhooks: Command, run: Run): void {
  webhooks
    .command("create <url>")
    .description("Create a webhook")
    .option("--name <name>", "Name, for your own reference")
    .option("--description <text>", "Longer description")
    .action((url, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).create(cli, url, flags)));
  webhooks
    .command("update <id>")
    .description("Change a webhook")
    .option("--name <name>", "Name, for your own reference")
    .option("--description <text>", "Longer description")
    .option("--url <url>", "Another address")
    .option("--activate", "Resume deliveries")
    .option("--deactivate", "Stop deliveries")
    .option("--replay-missed", "Deliver events that it missed while inactive")
    .action((id, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/webhooks.ts")).update(cli, id, flags)));
}

function subscriptionCommands(subscriptions: Command, run: Run): void {
  subscriptions
    .command("list", { isDefault: true })
    .description("List subscriptions")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/webhooks/subscriptions.ts")).list(cli)));
  subscriptions
    .command("create <emitter> <listener>")
    .description("Subscribe a listener to an emitter's events")
    .option("--channel <name>", "Another channel than the default one", "")
    .action((emitter, listener, { channel }, command) =>
      run(command, async (cli) => (await import("../commands/webhooks/subscriptions.ts")).create(cli, { emitter, listener, channel })),
    );
  subscriptions
    .command("delete <emitter> <listener>")
    .description("End a subscription")
    .option("--channel <name>", "Another channel than the default one", "")
    .action((emitter, listener, { channel }, command) =>
      run(command, async (cli) => (await import("../commands/webhooks/subscriptions.ts")).remove(cli, { emitter, listener, channel })),
    );
}

function deliveryCommands(program: Command, run: Run): void {
  const deliveries = program
    .command("deliveries")
    .argument("<webhook-listener-or-delivery>")
    .description("List deliveries to a webhook, source or workflow, or the attempts of one delivery")
    .option("--failed", "Only failed ones")
    .option("--state <state>", "Only pending, delivered, failed or missed ones")
    .option("-n <count>", "Number of deliveries", "20");
  deliveries.action((what, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/deliveries.ts")).deliveries(cli, what, flags)));
  deliveries
    .command("retry <delivery-webhook-or-listener>")
    .description("Retry one delivery, or all failed and pending ones to a webhook or listener")
    .option("--since <time>", "Only those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/webhooks/deliveries.ts")).retry(cli, target, flags)));
}
