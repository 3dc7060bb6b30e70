import type { JsonObject } from "../../domain/json.ts";
import { listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { coloursFor, countOf, printConnection, printJson, printLine, timelineLine } from "../reporter.ts";
import { abortOnStop } from "../stop-signals.ts";

/** `pd logs <source>`: the newest lines, then what comes. Under --json one record a line; a list with --no-follow. */
export async function logs(cli: CliContext, source: string, { n, follow }: { n: string; follow: boolean }): Promise<number> {
  const limit = countOf(n);
  const client = await connect(cli);
  const { id } = await client.source(source);
  const colours = coloursFor(cli.stdout, cli);
  const print = (record: JsonObject): void => (cli.isJson ? printJson(cli, record) : printLine(cli, timelineLine(record, colours) ?? ""));
  const readRecent = async (): Promise<readonly JsonObject[]> => (limit === 0 ? [] : listOf(await client.get(`/v1/sources/${String(id)}/logs?limit=${limit}`)));
  if (!follow) {
    const recent = await readRecent();
    if (cli.isJson) printJson(cli, [...recent]);
    else recent.forEach(print);
    return 0;
  }
  const stop = abortOnStop(cli.stdout);
  const waiting: JsonObject[] = [];
  let show = (record: JsonObject): void => void waiting.push(record);
  // The stream is open before the recent ones are asked for, so that nothing falls between.
  const stream = client.stream(`/sse/dc/${String(id)}/observations`, {
    signal: stop.signal,
    onConnection: (isOpen) => printConnection(cli, isOpen),
    onMessage: ({ data }) => show(data),
  });
  await stream.opened;
  const recent = await readRecent();
  recent.forEach(print);
  const seen = new Set(recent.map((record) => JSON.stringify(record)));
  waiting.filter((record) => !seen.has(JSON.stringify(record))).forEach(print);
  show = print;
  await stream.ended;
  return 0;
}
