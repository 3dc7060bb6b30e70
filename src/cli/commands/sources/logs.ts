import { coloursFor } from "../../colours.ts";
import type { ObservationRecord } from "../../../api/invocations.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { countOf, printGap, printJson, printLine, timelineLine } from "../../reporter.ts";
import { abortOnStop } from "../../stop-signals.ts";

/** --json: one record per line, or a list with --no-follow. */
export async function logs(cli: CliContext, source: string, { n, follow }: { n: string; follow: boolean }): Promise<number> {
  const limit = countOf(n);
  const client = await connect(cli);
  const { id } = (await findDeployed(client, source)).record;
  const colours = coloursFor(cli.stdout, cli);
  const print = (record: ObservationRecord): void => (cli.isJson ? printJson(cli, record) : printLine(cli, timelineLine(record, colours) ?? ""));
  const readRecent = async (): Promise<readonly ObservationRecord[]> => {
    const recent = limit === 0 ? [] : await client.invocations.observations(id, { limit });
    // Records are grouped by run, but runs overlap and may log after their end.
    return recent.toSorted((a, b) => a.ts - b.ts);
  };
  if (!follow) {
    const recent = await readRecent();
    if (cli.isJson) printJson(cli, recent);
    else recent.forEach(print);
    return 0;
  }
  const stop = abortOnStop(cli.stdout);
  const coming = client.follow.logs(id, { signal: stop.signal, onConnection: (isOpen) => printGap(cli, isOpen, source) });
  // Opened before the recent records are read, so that none is missed.
  await coming.opened;
  const recent = await readRecent();
  recent.forEach(print);
  const seen = new Set(recent.map((record) => JSON.stringify(record)));
  for await (const record of coming) {
    const isKnown = seen.delete(JSON.stringify(record));
    if (!isKnown) print(record);
  }
  return 0;
}
