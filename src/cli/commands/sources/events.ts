import { coloursFor } from "../../colours.ts";
import type { EventRecord } from "../../../api/events.ts";
import { PdError } from "../../../domain/errors.ts";
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
export async function events(cli: CliContext, source: string, { n, channel, follow, raw, verbose }: EventsFlags): Promise<number> {
  const limit = countOf(n);
  if (follow === true && channel?.startsWith("$") === true)
    throw new PdError("PD_BAD_INPUT", `Cannot follow ${channel}: only emitted events can be followed`, { fix: `Leave out -f, or run pd logs ${source}` });
  const isForPeople = cli.stdout.isTTY === true && raw !== true;
  const print = (record: EventRecord): void => {
    if (cli.isJson) return printJson(cli, record);
    printLine(cli, isForPeople ? eventLines(record, { colours: coloursFor(cli.stdout, cli), isVerbose: verbose === true }) : JSON.stringify(record.event));
  };
  const client = await connect(cli);
  const { id } = (await findDeployed(client, source)).record;
  const page = limit === 0 ? [] : (await client.events.list(id, { expand: "event", limit, event_name: channel })).data.toReversed();
  if (cli.isJson && follow !== true) printJson(cli, page);
  else if (page.length === 0 && follow !== true && isForPeople)
    printNote(cli, channel === undefined ? `No events yet: pd run ${source}` : `No events on ${channel}`);
  else page.forEach(print);
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

export async function emitAgain(cli: CliContext, source: string, id: string): Promise<number> {
  const client = await connect(cli);
  const event = await client.events.emit(source, id);
  return printRecord(cli, event, () => printLine(cli, `Emitted ${id} again, as ${event.id}`));
}
