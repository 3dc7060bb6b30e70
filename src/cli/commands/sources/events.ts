import { coloursFor } from "../../colours.ts";
import type { EventRecord } from "../../../api/events.ts";
import { PdError } from "../../../domain/errors.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { countOf, eventLines, printConnection, printGone, printJson, printLine, printNote, printRecord } from "../../reporter.ts";
import { abortOnStop } from "../../stop-signals.ts";

interface EventsFlags {
  readonly n: string;
  readonly channel?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly raw?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

/** Oldest first. Terminals get time, summary and id, with -v also payloads. Pipes and --raw get one payload per line, --json whole records. */
export async function events(cli: CliContext, source: string | undefined, { n, channel, follow, raw, verbose }: EventsFlags): Promise<number> {
  const limit = countOf(n);
  if (follow === true && channel?.startsWith("$") === true)
    throw new PdError("PD_BAD_INPUT", `Cannot follow ${channel}: only emitted events can be followed`, {
      fix: `Leave out -f, or run pd logs ${source ?? "<source>"}`,
    });
  if (source === undefined && follow === true)
    throw new PdError("PD_BAD_INPUT", "Cannot follow the events of all sources", { fix: "Name one: pd events -f <source>" });
  const isForPeople = cli.stdout.isTTY === true && raw !== true;
  const print = (record: EventRecord, of = ""): void => {
    if (cli.isJson) return printJson(cli, record);
    printLine(
      cli,
      isForPeople
        ? (of === "" ? "" : `${of}  `) + eventLines(record, { colours: coloursFor(cli.stdout, cli), isVerbose: verbose === true })
        : JSON.stringify(record.event),
    );
  };
  const client = await connect(cli);
  if (source === undefined) return eventsOfAll(cli, client, { limit, channel, print });
  const { id } = (await findDeployed(client, source)).record;
  const page = limit === 0 ? [] : (await client.events.list(id, { expand: "event", limit, event_name: channel })).data.toReversed();
  if (cli.isJson && follow !== true) printJson(cli, page);
  else if (page.length === 0 && follow !== true && isForPeople)
    printNote(cli, channel === undefined ? `No events yet: pd run ${source}` : `No events on ${channel}`);
  else for (const record of page) print(record);
  if (follow !== true) return 0;
  const stop = abortOnStop(cli.stdout);
  const after = page.at(-1)?.id ?? (limit === 0 ? undefined : "0-0");
  let wasCutOff = false;
  const coming = client.follow.events(id, {
    signal: stop.signal,
    onConnection(isOpen) {
      wasCutOff = true;
      printConnection(cli, isOpen);
    },
    onGone: (count) => wasCutOff && printGone(cli, count),
    ...(after === undefined ? {} : { after }),
  });
  for await (const record of coming) if (channel === undefined || record.metadata.name === channel) print(record);
  return 0;
}

interface OfAll {
  readonly limit: number;
  readonly channel: string | undefined;
  readonly print: (record: EventRecord, of: string) => void;
}

/** The newest of all sources and workflows. */
async function eventsOfAll(cli: CliContext, client: Client, { limit, channel, print }: OfAll): Promise<number> {
  if (limit === 0) return 0;
  const [sources, workflows] = await Promise.all([everyPage(client.sources.list), everyPage(client.workflows.list).catch(ignoringOlder)]);
  const found: { readonly record: EventRecord; readonly of: string }[] = [];
  for (const { id, name_slug: of } of [...sources, ...workflows]) {
    const data = await client.events.list(id, { expand: "event", limit, event_name: channel }).then((page) => page.data, ignoringMissing);
    for (const record of data.toReversed()) found.push({ record, of });
  }
  const newest = found.toSorted((a, b) => a.record.indexed_at_ms - b.record.indexed_at_ms).slice(-limit);
  if (cli.isJson)
    printJson(
      cli,
      newest.map(({ record }) => record),
    );
  else if (newest.length === 0) printNote(cli, "No events yet");
  else for (const { record, of } of newest) print(record, of);
  return 0;
}

/** One that was deleted meanwhile, or that the server cannot read. */
function ignoringMissing(error: unknown): readonly [] {
  if (error instanceof PdError && error.code.endsWith("_NOT_FOUND")) return [];
  throw error;
}

/** Older servers have no workflows. */
function ignoringOlder(error: unknown): readonly [] {
  if (error instanceof PdError && error.code === "PD_NOT_FOUND") return [];
  throw error;
}

export async function emitAgain(cli: CliContext, source: string, id: string): Promise<number> {
  const client = await connect(cli);
  const event = await client.events.emit(source, id);
  return printRecord(cli, event, () => printLine(cli, `Emitted ${id} again, as ${event.id}`));
}
