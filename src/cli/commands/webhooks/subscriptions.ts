import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { inCircles } from "../../../domain/delivery/circles.ts";
import { printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

interface Ends {
  readonly emitter: string;
  readonly listener: string;
  readonly channel: string;
}

export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const subscriptions = await client.subscriptions.list();
  const names = cli.isJson || subscriptions.length === 0 ? new Map<string, string>() : await namesOf(client);
  return printRecords(cli, subscriptions, {
    columns: ["id", "emitter", "listener", "channel"],
    cells: ({ id, emitter_id: emitter, listener_id: listener, event_name: channel }) => [
      id,
      names.get(emitter) ?? emitter,
      names.get(listener) ?? listener,
      channel,
    ],
    none: "No subscriptions yet: pd subscribe <source> <url>",
  });
}

/** Slugs of sources and workflows, also by the ids of a workflow's triggers; names or URLs of webhooks. */
async function namesOf(client: Client): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const { id, name_slug: slug } of await everyPage(client.sources.list).catch(noneThere)) names.set(id, slug);
  for (const { id, name_slug: slug, triggers } of await everyPage(client.workflows.list).catch(noneThere))
    for (const one of [id, ...triggers.flatMap((trigger) => trigger.id ?? [])]) names.set(one, slug);
  for (const { id, name, url } of await everyPage(client.webhooks.list).catch(noneThere)) names.set(id, name ?? url);
  return names;
}

/** Older servers and the hosted platform do not list everything. */
function noneThere(error: unknown): readonly never[] {
  if (error instanceof PdError && error.code === "PD_NOT_FOUND") return [];
  throw error;
}

export async function create(cli: CliContext, ends: Ends): Promise<number> {
  const client = await connect(cli);
  const which = await named(client, ends);
  const [made] = await client.subscriptions.create(which);
  printRecord(cli, made ?? which, () => printLine(cli, `Subscribed ${which.listener_id} to ${which.emitter_id} (${made?.id ?? ""})`));
  await warnOfCircle(cli, client, which.listener_id);
  return 0;
}

async function warnOfCircle(cli: CliContext, client: Client, listener: string): Promise<void> {
  const all = await client.subscriptions.list();
  const circle = inCircles(all.map(({ emitter_id: emitterId, listener_id: listenerId, event_name: channel }) => ({ emitterId, listenerId, channel })));
  if (circle.some((id) => id === listener)) printNote(cli, `Warning: ${circle.join(", ")} now form a loop: one event may cause others without end`);
}

export async function remove(cli: CliContext, ends: Ends): Promise<number> {
  const client = await connect(cli);
  const which = await named(client, ends);
  await client.subscriptions.delete(which);
  return printRecord(cli, { ...which, deleted: true }, () => printLine(cli, "Ended the subscription"));
}

async function named(client: Client, { emitter, listener, channel }: Ends) {
  const idOf = async (name: string): Promise<string> => (/^(dc|p|wh|o|u)_/.test(name) ? name : (await findDeployed(client, name)).record.id);
  return { emitter_id: await idOf(emitter), listener_id: await idOf(listener), event_name: channel };
}
