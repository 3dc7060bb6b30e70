import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { countOf, printConnection, printJson, printLine, text } from "../reporter.ts";
import { abortOnStop } from "../stop-signals.ts";

interface EventsFlags {
  readonly n: string;
  readonly channel?: string;
  readonly follow?: boolean;
}

/** `pd events <source>`: payloads, oldest first; `-f` goes on with what comes, of every channel. Under --json whole records. */
export async function events(cli: CliContext, source: string, { n, channel, follow }: EventsFlags): Promise<number> {
  const limit = countOf(n);
  const client = await connect(cli);
  const { id } = await client.source(source);
  const query = new URLSearchParams({ expand: "event", limit: String(limit), ...(channel === undefined ? {} : { event_name: channel }) });
  const page = limit === 0 ? [] : listOf(await client.get(`/v1/sources/${String(id)}/event_summaries?${query.toString()}`)).toReversed();
  if (cli.isJson && follow !== true) printJson(cli, [...page]);
  else for (const record of page) printEvent(cli, record);
  if (follow !== true) return 0;
  const stop = abortOnStop(cli.stdout);
  const last = page.at(-1);
  const resume = last === undefined ? (limit === 0 ? {} : { lastEventId: "0-0" }) : { lastEventId: text(last, "id") };
  await client.stream(`/sse/dc/${String(id)}/emits`, {
    signal: stop.signal,
    ...resume,
    onConnection: (isOpen) => printConnection(cli, isOpen),
    onMessage: ({ data }) => printEvent(cli, data),
  }).ended;
  return 0;
}

function printEvent(cli: CliContext, record: JsonObject): void {
  if (cli.isJson) return printJson(cli, record);
  const payload = record["event"] ?? null;
  printLine(cli, JSON.stringify(payload, null, cli.stdout.isTTY === true && isJsonObject(payload) ? 2 : 0));
}
