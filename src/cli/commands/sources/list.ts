import { relativeTime } from "../../../domain/text/relative-time.ts";
import { outcomeWord } from "../../../domain/run/invocation.ts";
import type { ActivityRecord, SourceRecord } from "../../../api/sources.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { type CliContext, connect } from "../../context.ts";
import { localTime, printNote, printRecords } from "../../reporter.ts";
import { listWorkflows } from "../workflows/workflows.ts";

interface ListFlags {
  readonly wide?: boolean | undefined;
}

export async function list(cli: CliContext, kind: string, { wide: isWide = false }: ListFlags): Promise<number> {
  switch (kind) {
    case "sources":
    case "so":
      return listSources(cli, isWide);
    case "components":
      return listComponents(cli, isWide);
    case "streams":
    case "st":
      return listStreams(cli, isWide);
    case "workflows":
    case "wf":
      return listWorkflows(cli, isWide);
    default:
      throw new PdError("PD_BAD_INPUT", `Cannot list ${JSON.stringify(kind)}: expected sources, workflows, components or streams`, {
        fix: "pd list sources",
      });
  }
}

async function listSources(cli: CliContext, isWide: boolean): Promise<number> {
  const client = await connect(cli);
  const sources = await everyPage(client.sources.list);
  for (const { name_slug: slug, problems = [] } of sources) for (const problem of problems) printNote(cli, `${slug}: ${problem}`);
  const activity = cli.isJson ? new Map<string, ActivityRecord>() : await activityOf(client, sources);
  const timeOf = cli.stdout.isTTY === true && !isWide ? (at: number): string => relativeTime(at, Date.now()) : localTime;
  return printRecords(cli, sources, {
    isWide,
    columns: ["name", "id", "state", "last run", "events/h", "endpoint"],
    cells: (source) => [source.name_slug, source.id, stateOf(source), ...cellsOf(activity.get(source.id), timeOf), source.endpoint_url],
    none: (await hasWorkflows(client, sources))
      ? "No sources, only workflows: pd list workflows"
      : "No sources yet: pd deploy <file>, or pd init source <name> for a template",
  });
}

async function hasWorkflows(client: Client, sources: readonly SourceRecord[]): Promise<boolean> {
  return sources.length === 0 && (await client.workflows.list({ limit: 1 })).data.length > 0;
}

const MOST_AT_ONCE = 100;

/** Older servers do not report activity. */
async function activityOf(client: Client, sources: readonly SourceRecord[]): Promise<ReadonlyMap<string, ActivityRecord>> {
  const found = new Map<string, ActivityRecord>();
  for (let from = 0; from < sources.length; from += MOST_AT_ONCE) {
    const ids = sources.slice(from, from + MOST_AT_ONCE).map(({ id }) => id);
    for (const record of await client.sources.activity({ ids: ids.join(",") }).catch(unlessForeign)) found.set(record.source_id, record);
  }
  return found;
}

function unlessForeign(error: unknown): readonly ActivityRecord[] {
  if (error instanceof PdError && error.code === "PD_NOT_FOUND") return [];
  throw error;
}

function stateOf({ active, problems = [] }: SourceRecord): string {
  if (problems.length > 0) return "problem";
  return active ? "active" : "off";
}

/** Newest run, and events of the last hour. */
function cellsOf(activity: ActivityRecord | undefined, timeOf: (at: number) => string): readonly [string, string] {
  if (activity === undefined) return ["", ""];
  const [last] = activity.calls;
  const events = activity.events.reduce((sum, count) => sum + count, 0);
  return [last === undefined ? "never" : `${timeOf(last.started_at_ms)} ${outcomeWord(last.outcome)}`, String(events)];
}

async function listComponents(cli: CliContext, isWide: boolean): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await everyPage(client.components.list), {
    isWide,
    columns: ["name", "id", "version", "key", "published"],
    cells: ({ name, id, version, key, published }) => [name, id, version, key, published ? "yes" : "no"],
    none: "No components yet: pd publish <file>",
  });
}

async function listStreams(cli: CliContext, isWide: boolean): Promise<number> {
  const client = await connect(cli);
  const streams = (await everyPage(client.sources.list)).map(({ id, name_slug: name }) => ({
    name,
    type: "source",
    visibility: "private",
    sse: `${client.connection.baseUrl}/sse/dc/${id}/emits`,
  }));
  return printRecords(cli, streams, {
    isWide,
    columns: ["name", "type", "visibility", "sse"],
    cells: ({ name, type, visibility, sse }) => [name, type, visibility, sse],
    none: "No sources and no streams yet",
  });
}
