/**
 * Writes all small runs that wait in one statement. Nothing of a source is written unless its fence, its last number
 * and its listeners are what this server knows, and no other transaction has the source.
 */
import { type DedupeCache, remember } from "../../../domain/event/dedupe.ts";
import type { NewEvent } from "../../../domain/event/event.ts";
import type { DeployedId, ListenerId } from "../../../domain/ids.ts";
import { isFailed } from "../../../domain/run/invocation.ts";
import type { RunCommit } from "../../../ports/stores/run-store.ts";
import { storedEvents } from "../../rows/stored-commit.ts";
import type { Database, Value } from "../connection/sql.ts";
import { columnsOfEvents } from "../tables/event-rows.ts";
import { type NewDelivery, deliveriesOf, wokenBy } from "../tables/publishing.ts";
import { type Progress, type Written, endOf, invocationColumns } from "./whole-run.ts";

/** More are written in parts. */
const MOST_EVENTS = 500;
const MOST_CHARACTERS = 2 ** 20;

interface SmallRun extends RunCommit {
  readonly events: readonly NewEvent[];
}

export function isSmall(run: RunCommit): run is SmallRun {
  const { events, step, postponed = [], triggerText = "" } = run;
  if (step !== undefined || postponed.length > 0 || events.length > MOST_EVENTS || !Array.isArray(events)) return false;
  return charactersOf(events) + triggerText.length <= MOST_CHARACTERS;
}

function charactersOf(events: readonly NewEvent[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}

/** Small runs of a source, in order, after what is known of it. */
export interface SourceRuns {
  readonly sourceId: DeployedId;
  readonly progress: Progress;
  readonly runs: readonly { readonly run: SmallRun; readonly logChunk: number }[];
}

interface Column {
  readonly name: string;
  readonly type: string;
}

const columns = (text: string): readonly Column[] =>
  text.split(", ").map((column) => {
    const [name = "", ...type] = column.split(" ");
    return { name, type: type.join(" ") };
  });

/** Rows that a statement inserts or looks for, a parameter for each column. */
const TABLES = {
  source: columns("source_id text, fence bigint, base bigint, version bigint, last_seq bigint, cache text"),
  invocation: columns(
    "id text, source_id text, trigger text, started_at bigint, duration_ms double precision, outcome text, event_count bigint, dropped text, response_status integer, replay_of text, returned text, version bigint",
  ),
  event: columns("source_id text, stored_at bigint, invocation_id text, seq bigint, channel text, dedupe_id text, summary text, ts bigint, payload text"),
  log: columns("source_id text, seq bigint, invocation_id text, lines text"),
  set: columns("source_id text, key text, value text"),
  cleared: columns("source_id text, key text"),
  instant: columns("source_id text, prop text, planned_at bigint, invocation_id text"),
  received: columns("source_id text, message_id text"),
  delivery: columns("listener_id text, message_id text, source_id text, channel text, payload text, active boolean, at bigint"),
} as const;
type TableName = keyof typeof TABLES;
const NAMES: readonly TableName[] = ["source", "invocation", "event", "log", "set", "cleared", "instant", "received", "delivery"];

/** `unnest` of the table's parameters, named as its columns. */
function told(name: TableName): string {
  const before = NAMES.slice(0, NAMES.indexOf(name)).reduce((sum, other) => sum + TABLES[other].length, 0);
  const parameters = TABLES[name].map(({ type }, place) => `$${before + place + 1}::${type}[]`);
  return `unnest(${parameters.join(", ")}) as told (${TABLES[name].map((column) => column.name).join(", ")})`;
}

function insertTold(table: string, name: TableName): string {
  const names = TABLES[name].map((column) => column.name);
  return `insert into ${table} (${names.join(", ")}) select ${names.map((column) => `told.${column}`).join(", ")} from ${told(name)} join owned using (source_id)`;
}

const STATEMENT = `with
  told_sources as materialized (
    select told.* from ${told("source")} where told.version = (select version from listeners_version)),
  owned as materialized (
    select p.source_id from source_progress p join told_sources t on t.source_id = p.source_id
    where p.fence = t.fence and p.last_seq = t.base order by p.source_id for no key update of p skip locked),
  advanced as (
    update source_progress p set last_seq = t.last_seq, cache = coalesce(t.cache, p.cache)
    from told_sources t join owned o on o.source_id = t.source_id
    where p.source_id = t.source_id and (t.last_seq > t.base or t.cache is not null)),
  invocations_written as (${insertTold("invocations", "invocation")}),
  events_written as (${insertTold("events", "event")}),
  logs_written as (${insertTold("log_chunks", "log")}),
  state_set as (${insertTold("state", "set")} on conflict (source_id, md5(key)) do update set value = excluded.value),
  state_cleared as (
    delete from state s using ${told("cleared")}, owned o
    where o.source_id = told.source_id and s.source_id = told.source_id and s.key = told.key),
  requests_done as (
    delete from pending_requests r using ${told("invocation")}, owned o where o.source_id = told.source_id and r.id = told.id),
  instants_fired as (
    update timer_instants i set state = 'fired' from ${told("instant")}, owned o
    where o.source_id = told.source_id and i.source_id = told.source_id and i.prop = told.prop and i.planned_at = told.planned_at
      and i.invocation_id = told.invocation_id and i.state = 'running'),
  messages_received as (
    update deliveries d set state = 'delivered', next_at = null from ${told("received")}, owned o
    where o.source_id = told.source_id and d.listener_id = told.source_id and d.message_id = told.message_id),
  deliveries_written as (
    insert into deliveries (listener_id, message_id, emitter_id, channel, payload, state, next_at, created_at)
    select told.listener_id, told.message_id, told.source_id, told.channel, told.payload,
      case when told.active then 'pending' else 'missed' end, case when told.active then told.at end, told.at
    from ${told("delivery")} join owned using (source_id) on conflict do nothing)
  select source_id from owned`;

/** What was written, by source. A source that is missing was not written at all. */
export async function writeTogether(db: Pick<Database, "runAtOnce">, sources: readonly SourceRuns[]): Promise<ReadonlyMap<DeployedId, readonly Written[]>> {
  const prepared = sources.map(preparedOf);
  const { rows } = await db.runAtOnce(STATEMENT, ...parametersOf(prepared));
  const owned = new Set(rows.map(({ source_id: id }) => id));
  return new Map(prepared.filter(({ sourceId }) => owned.has(sourceId)).map(({ sourceId, written }) => [sourceId, written]));
}

interface Prepared extends SourceRuns {
  readonly written: readonly Written[];
  readonly deliveries: readonly NewDelivery[];
  readonly cache: DedupeCache | undefined;
}

function preparedOf({ sourceId, progress, runs }: SourceRuns): Prepared {
  let { lastSeq, cache } = progress;
  const deliveries: NewDelivery[] = [];
  const written = runs.map(({ run, logChunk }): Written => {
    const { events, learned } = run;
    const firstSeq = lastSeq + 1;
    lastSeq += events.length;
    if (learned !== undefined) cache = remember(cache, learned);
    const own = progress.listeners.length === 0 ? [] : messagesOfRun({ run, logChunk }, { firstSeq, progress });
    for (const delivery of own) deliveries.push(delivery);
    const listeners: readonly ListenerId[] = wokenBy(own);
    return { answer: { firstSeq, listeners }, progress: { ...progress, lastSeq, cache } };
  });
  return { sourceId, progress, runs, written, deliveries, cache: cache === progress.cache ? undefined : cache };
}

function messagesOfRun(
  { run, logChunk }: SourceRuns["runs"][number],
  { firstSeq, progress }: { firstSeq: number; progress: Progress },
): readonly NewDelivery[] {
  const { invocation, events, logs } = run;
  const { id: invocationId, sourceId } = invocation;
  const at = endOf(invocation);
  const failure = isFailed(invocation.outcome) ? { invocation } : {};
  return deliveriesOf(
    { sourceId, invocationId, at, events: storedEvents(events, firstSeq, { invocationId, at }), logs, logChunk, ...failure },
    progress.listeners,
  );
}

type Scalar = string | number | boolean | null;

function parametersOf(sources: readonly Prepared[]): readonly Value[] {
  const rows: Record<TableName, (readonly Scalar[])[]> = {
    source: [],
    invocation: [],
    event: [],
    log: [],
    set: [],
    cleared: [],
    instant: [],
    received: [],
    delivery: [],
  };
  for (const source of sources) addRows(rows, source);
  return NAMES.flatMap((name) => TABLES[name].map((_, column) => rows[name].map((row) => row[column] ?? null)));
}

function addRows(rows: Record<TableName, (readonly Scalar[])[]>, { sourceId, progress, runs, written, deliveries, cache }: Prepared): void {
  const { fence, lastSeq, version } = progress;
  const last = written.at(-1)?.progress.lastSeq ?? lastSeq;
  rows.source.push([sourceId, fence, lastSeq, version, last, cache === undefined ? null : JSON.stringify(cache)]);
  // A statement changes a row only once, so the last change of a key counts.
  const changes = new Map<string, string | null>();
  for (const [place, { run, logChunk }] of runs.entries()) {
    const { invocation, events, stateChanges, logs } = run;
    const { id, trigger } = invocation;
    const firstSeq = written[place]?.answer.firstSeq ?? 0;
    rows.invocation.push(invocationColumns(run));
    const values = columnsOfEvents(events, firstSeq);
    const at = endOf(invocation);
    for (const index of events.keys()) rows.event.push([sourceId, at, id, ...values.map((column) => column[index] ?? null)]);
    if (logs.length > 0) rows.log.push([sourceId, logChunk, id, JSON.stringify(logs)]);
    for (const [key, value] of Object.entries(stateChanges)) changes.set(key, value);
    if (trigger.kind === "timer") rows.instant.push([sourceId, trigger.prop, trigger.plannedAt, id]);
    if (trigger.kind === "event") rows.received.push([sourceId, trigger.messageId]);
  }
  for (const [key, value] of changes) {
    if (value === null) rows.cleared.push([sourceId, key]);
    else rows.set.push([sourceId, key, value]);
  }
  for (const { listenerId, messageId, emitterId, channel, payload, isActive, at } of deliveries)
    rows.delivery.push([listenerId, messageId, emitterId, channel, payload, isActive, at]);
}
