import { outcomeWord } from "../../../domain/run/invocation.ts";
import type { InvocationRecord } from "../../../api/invocations.ts";
import type { SourceRecord } from "../../../api/sources.ts";
import type { Client } from "../../../client/client.ts";
import type { CliContext } from "../../context.ts";
import { countOf, localTime, printJson, printLine, printNote } from "../../reporter.ts";
import { sinceOf } from "../../since.ts";
import { refuseGiven } from "../refuse-flags.ts";

interface CallsFlags {
  readonly n: string;
  readonly failed?: boolean | undefined;
  readonly state?: string | undefined;
  readonly since?: string | undefined;
}

const PAGE = 100;

export async function sourceRuns(cli: CliContext, client: Client, { source, flags }: { source: SourceRecord; flags: CallsFlags }): Promise<number> {
  const { failed, state, since } = flags;
  refuseGiven({ state }, `runs of a source have no states, and ${source.name_slug} is a source`, "Use --failed, or leave it out");
  const from = since === undefined ? 0 : sinceOf(since);
  const found = await newestOf(client, source.id, { limit: countOf(flags.n), from, isWanted: ({ outcome }) => failed !== true || outcome !== "returned" });
  if (cli.isJson) printJson(cli, found);
  else if (found.length === 0) printNote(cli, failed === true || since !== undefined ? "No such runs" : `No runs yet: pd run ${source.name_slug}`);
  else for (const call of found) printLine(cli, callLine(call));
  return 0;
}

async function newestOf(
  client: Client,
  id: string,
  { limit, from, isWanted }: { limit: number; from: number; isWanted: (call: InvocationRecord) => boolean },
): Promise<readonly InvocationRecord[]> {
  const found: InvocationRecord[] = [];
  let before: InvocationRecord["id"] | undefined;
  while (found.length < limit) {
    const page = await client.invocations.list(id, { limit: PAGE, before });
    found.push(...page.filter((call) => call.started_at_ms >= from && isWanted(call)));
    const last = page.at(-1);
    before = last?.id;
    // Pages are ordered by end time.
    if (last === undefined || page.length < PAGE || last.started_at_ms + last.duration_ms < from) break;
  }
  return found.slice(0, limit);
}

function callLine({ id, outcome, message, started_at_ms: at, duration_ms: ms, trigger_summary: trigger, event_count: count }: InvocationRecord): string {
  const isOk = outcome === "returned";
  const events = `${count} ${count === 1 ? "event" : "events"}`;
  return [`${isOk ? "✔" : "✖"} ${outcomeWord(outcome)}`, localTime(at), id, `${trigger} ${ms} ms`, isOk ? events : message].join("  ");
}
