import { once } from "node:events";
import { listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { coloursFor, printJson, printLine, timelineLine } from "../reporter.ts";

/** `pd logs <source>`: the newest lines, then what comes. Under --json one record a line; a list with --no-follow. */
export async function logs(cli: CliContext, source: string, { n, follow }: { n: string; follow: boolean }): Promise<number> {
  const client = await connect(cli);
  const { id } = await client.source(source);
  const colours = coloursFor(cli.stdout, cli);
  const recent = listOf(await client.get(`/v1/sources/${String(id)}/logs?limit=${encodeURIComponent(n)}`));
  if (cli.isJson && !follow) printJson(cli, [...recent]);
  for (const record of cli.isJson && !follow ? [] : recent) {
    if (cli.isJson) printJson(cli, record);
    else printLine(cli, timelineLine(record, colours) ?? "");
  }
  if (!follow) return 0;
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  void client.stream(`/sse/dc/${String(id)}/observations`, {
    signal: stop.signal,
    onMessage: ({ data }) => (cli.isJson ? printJson(cli, data) : printLine(cli, timelineLine(data, colours) ?? "")),
  });
  await once(stop.signal, "abort");
  return 0;
}
