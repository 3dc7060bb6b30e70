import type { EventRecord } from "../../api/events.ts";
import { isJsonObject } from "../../domain/json.ts";
import { PdError } from "../../domain/errors.ts";
import { type CliContext, connect } from "../context.ts";
import { findDeployed } from "../deployed.ts";
import { countOf, printConnection, printJson, printLine, printRecord } from "../reporter.ts";
import { abortOnStop } from "../stop-signals.ts";

interface EventsFlags {
  readonly n: string;
  readonly channel?: string | undefined;
  readonly follow?: boolean | undefined;
}

/** `pd events <source>`: payloads, oldest first; `-f` goes on with what comes. Under --json whole records. */
export async function events(cli: CliContext, source: string, { n, channel, follow }: EventsFlags): Promise<number> {
  const limit = countOf(n);
  if (follow === true && channel?.startsWith("$") === true)
    throw new PdError("PD_BAD_INPUT", `Cannot follow ${channel}: only what is emitted can be followed`, { fix: `Leave out -f, or run pd logs ${source}` });
  const client = await connect(cli);
  const { id } = (await findDeployed(client, source)).record;
  const page = limit === 0 ? [] : (await client.events.list(id, { expand: "event", limit, event_name: channel })).data.toReversed();
  if (cli.isJson && follow !== true) printJson(cli, page);
  else for (const record of page) printEvent(cli, record);
  if (follow !== true) return 0;
  const stop = abortOnStop(cli.stdout);
  const after = page.at(-1)?.id ?? (limit === 0 ? undefined : "0-0");
  const coming = client.follow.events(id, {
    signal: stop.signal,
    onConnection: (isOpen) => printConnection(cli, isOpen),
    ...(after === undefined ? {} : { after }),
  });
  for await (const record of coming) if (channel === undefined || record.metadata.name === channel) printEvent(cli, record);
  return 0;
}

/** `pd emit <source> <event>`: the same event as a new one; dedupe has no say. */
export async function emitAgain(cli: CliContext, source: string, id: string): Promise<number> {
  const client = await connect(cli);
  const event = await client.events.emit(source, id);
  return printRecord(cli, event, () => printLine(cli, `Emitted ${id} again, as ${event.id}`));
}

function printEvent(cli: CliContext, record: EventRecord): void {
  if (cli.isJson) return printJson(cli, record);
  printLine(cli, JSON.stringify(record.event, null, cli.stdout.isTTY === true && isJsonObject(record.event) ? 2 : 0));
}
