import { once } from "node:events";
import type { JsonObject } from "../../domain/json.ts";
import { listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { coloursFor, countOf, printJson, printLine, timelineLine } from "../reporter.ts";

/** `pd logs <source>`: the newest lines, then what comes. Under --json one record a line; a list with --no-follow. */
export async function logs(cli: CliContext, source: string, { n, follow }: { n: string; follow: boolean }): Promise<number> {
  const limit = countOf(n);
  const client = await connect(cli);
  const { id } = await client.source(source);
  const colours = coloursFor(cli.stdout, cli);
  const stop = new AbortController();
  const waiting: JsonObject[] = [];
  let show = (record: JsonObject): void => void waiting.push(record);
  if (follow) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    // The stream is open before the recent ones are asked for, so that nothing falls between.
    await client.stream(`/sse/dc/${String(id)}/observations`, { signal: stop.signal, onMessage: ({ data }) => show(data) });
  }
  const recent = limit === 0 ? [] : listOf(await client.get(`/v1/sources/${String(id)}/logs?limit=${limit}`));
  const print = (record: JsonObject): void => (cli.isJson ? printJson(cli, record) : printLine(cli, timelineLine(record, colours) ?? ""));
  if (cli.isJson && !follow) printJson(cli, [...recent]);
  else recent.forEach(print);
  if (!follow) return 0;
  const seen = new Set(recent.map((record) => JSON.stringify(record)));
  waiting.filter((record) => !seen.has(JSON.stringify(record))).forEach(print);
  show = print;
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  return 0;
}
