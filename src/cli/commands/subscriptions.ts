import type { Client } from "../../client/client.ts";
import { type CliContext, connect } from "../context.ts";
import { findDeployed } from "../deployed.ts";
import { printLine, printRecord, printRecords } from "../reporter.ts";

interface Ends {
  readonly emitter: string;
  readonly listener: string;
  readonly channel: string;
}

/** `pd subscriptions list`. */
export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await client.subscriptions.list(), {
    columns: ["id", "emitter", "listener", "channel"],
    cells: ({ id, emitter_id: emitter, listener_id: listener, event_name: channel }) => [id, emitter, listener, channel],
    none: "No subscriptions yet: pd subscribe <source> <url>",
  });
}

/** `pd subscriptions create <emitter> <listener>`. */
export async function create(cli: CliContext, ends: Ends): Promise<number> {
  const client = await connect(cli);
  const which = await named(client, ends);
  const [made] = await client.subscriptions.create(which);
  return printRecord(cli, made ?? which, () => printLine(cli, `Subscribed ${which.listener_id} to ${which.emitter_id} (${made?.id ?? ""})`));
}

/** `pd subscriptions delete <emitter> <listener>`. */
export async function remove(cli: CliContext, ends: Ends): Promise<number> {
  const client = await connect(cli);
  const which = await named(client, ends);
  await client.subscriptions.delete(which);
  return printRecord(cli, { ...which, deleted: true }, () => printLine(cli, "Ended the subscription"));
}

/** Sources may be named by their slugs. */
async function named(client: Client, { emitter, listener, channel }: Ends) {
  const idOf = async (name: string): Promise<string> => (/^(dc|p|wh|o|u)_/.test(name) ? name : (await findDeployed(client, name)).record.id);
  return { emitter_id: await idOf(emitter), listener_id: await idOf(listener), event_name: channel };
}
