/** Writes one run in a transaction of its own: any run, of any size. */
import { type DedupeCache, remember } from "../../../domain/event/dedupe.ts";
import type { NewEvent, NewEvents } from "../../../domain/event/event.ts";
import { PdError } from "../../../domain/errors.ts";
import type { ListenerId } from "../../../domain/ids.ts";
import { type Invocation, isFailed } from "../../../domain/run/invocation.ts";
import type { Published } from "../../../domain/delivery/message.ts";
import type { Addendum, RunCommit } from "../../../ports/stores/run-store.ts";
import { invocationOf, json } from "../../rows/rows.ts";
import { type CommitAnswer, storedEvents } from "../../rows/stored-commit.ts";
import type { Sql } from "../connection/sql.ts";
import { RECEIVE } from "../tables/deliveries.ts";
import { columnsOfEvents, insertEvents } from "../tables/event-rows.ts";
import { postpone } from "../tables/postponed.ts";
import { type Listener, listenersOf, publish } from "../tables/publishing.ts";
import { writeChanges } from "../tables/runs.ts";
import { writeStep } from "../tables/workflows.ts";

/** What is known of a source after a write under its fence. */
export interface Progress {
  readonly fence: number;
  readonly lastSeq: number;
  readonly cache: DedupeCache;
  readonly listeners: readonly Listener[];
  /** Of the listeners. */
  readonly version: number;
}

export interface Written {
  readonly answer: CommitAnswer;
  readonly progress: Progress;
}

/** What a commit and an addendum have in common. */
type Told = Omit<Addendum, "dropped" | "outcome">;

const LOCK = `select fence, last_seq, cache, (select version from listeners_version) as version
  from source_progress where source_id = $1 for no key update`;
const ADVANCE = "update source_progress set last_seq = $2, cache = $3 where source_id = $1";
const INSERT_INVOCATION = `insert into invocations
  (id, source_id, trigger, started_at, duration_ms, outcome, event_count, dropped, response_status, replay_of, returned, version)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
const FIRE_INSTANT = `update timer_instants set state = 'fired'
  where source_id = $1 and prop = $2 and planned_at = $3 and invocation_id = $4 and state = 'running'`;
const INSERT_LOGS = `insert into log_chunks (seq, source_id, invocation_id, lines)
  select $1, source_id, id, $4 from invocations where id = $3 and source_id = $2`;
const AMEND = `update invocations set event_count = event_count + $3, dropped = $4, outcome = coalesce($5, outcome)
  where id = $1 and source_id = $2`;
const EVENTS_A_PART = 500;
const CHARACTERS_A_PART = 2 ** 20;

/** Epoch ms of the end. */
export function endOf({ startedAt, durationMs }: Pick<Invocation, "startedAt" | "durationMs">): number {
  return Math.round(startedAt + durationMs);
}

/** Throws PD_NOT_STORED when the fence is stale. */
export async function writeCommit(sql: Sql, run: RunCommit, logChunk: number): Promise<Written> {
  const { invocation, step } = run;
  const { id, sourceId, trigger } = invocation;
  const told = { ...run, sourceId, invocationId: id, at: endOf(invocation) };
  const source = await lockSource(sql, told);
  const failure = isFailed(invocation.outcome) ? { invocation, run: step?.run } : {};
  await sql.run(INSERT_INVOCATION, ...invocationColumns(run));
  await sql.run("delete from pending_requests where id = $1", id);
  if (trigger.kind === "timer") await sql.run(FIRE_INSTANT, sourceId, trigger.prop, trigger.plannedAt, id);
  if (trigger.kind === "event") await sql.run(RECEIVE, sourceId, trigger.messageId);
  if (step !== undefined) await writeStep(sql, step);
  return writeEffects(sql, told, { source, logChunk, failure });
}

/** Throws PD_NOT_STORED when the fence is stale. */
export async function writeAddendum(sql: Sql, addendum: Addendum, logChunk: number): Promise<Written> {
  const { sourceId, invocationId, events, dropped, outcome } = addendum;
  const source = await lockSource(sql, addendum);
  const found = await sql.first("select * from invocations where id = $1 and source_id = $2", invocationId, sourceId);
  const counts: Record<string, number> = json(found?.["dropped"] ?? "{}");
  for (const [reason, count] of Object.entries(dropped)) counts[reason] = (counts[reason] ?? 0) + count;
  const ended = outcome === undefined ? null : JSON.stringify(outcome);
  await sql.run(AMEND, invocationId, sourceId, events.length, JSON.stringify(counts), ended);
  const amended = outcome === undefined ? undefined : await sql.first("select * from invocations where id = $1 and source_id = $2", invocationId, sourceId);
  return writeEffects(sql, addendum, { source, logChunk, failure: amended === undefined ? {} : { invocation: invocationOf(amended) } });
}

export function invocationColumns({ invocation, triggerText }: RunCommit): readonly (string | number | null)[] {
  const { id, sourceId, trigger, startedAt, durationMs, outcome, eventCount, dropped, responseStatus, replayOf, returned, version } = invocation;
  const texts = [JSON.stringify(outcome), eventCount, JSON.stringify(dropped)];
  const rest = [responseStatus ?? null, replayOf ?? null, returned ?? null, version ?? null];
  return [id, sourceId, triggerText ?? JSON.stringify(trigger), startedAt, durationMs, ...texts, ...rest];
}

async function lockSource(sql: Sql, { sourceId, fence }: Pick<Told, "sourceId" | "fence">): Promise<Progress> {
  const found = await sql.first(LOCK, sourceId);
  if (found === undefined || found["fence"] !== fence)
    throw new PdError("PD_NOT_STORED", `Cannot store a run of ${sourceId}: it no longer exists, or another process owns it`);
  const listeners = await listenersOf(sql, sourceId);
  return { fence, lastSeq: Number(found["last_seq"]), cache: json(found["cache"]), listeners, version: Number(found["version"]) };
}

interface Circumstances {
  readonly source: Progress;
  readonly logChunk: number;
  readonly failure: Pick<Published, "invocation" | "run">;
}

/** Events, state and logs, with what listeners receive of them. */
async function writeEffects(sql: Sql, told: Told, { source, logChunk, failure }: Circumstances): Promise<Written> {
  const { sourceId, invocationId, at, events, postponed = [], stateChanges, learned, logs } = told;
  const firstSeq = source.lastSeq + 1;
  const lastSeq = source.lastSeq + events.length;
  const cache = learned === undefined ? source.cache : remember(source.cache, learned);
  if (events.length > 0 || learned !== undefined) await sql.run(ADVANCE, sourceId, lastSeq, JSON.stringify(cache));
  const { listeners } = source;
  const published = { sourceId, invocationId, at, events: [], logs: [], logChunk };
  const woken = new Set<ListenerId>();
  let seq = firstSeq;
  for (const part of partsOf(events)) {
    await insertEvents(sql, told, { columns: columnsOfEvents(part, seq) });
    if (listeners.length > 0)
      for (const listener of await publish(sql, { ...published, events: storedEvents(part, seq, told) }, listeners)) woken.add(listener);
    seq += part.length;
  }
  if (postponed.length > 0) await postpone(sql, told, postponed);
  await writeChanges(sql, { table: "state", owner: sourceId }, stateChanges);
  if (logs.length > 0) await sql.run(INSERT_LOGS, logChunk, sourceId, invocationId, JSON.stringify(logs));
  for (const listener of await publish(sql, { ...published, logs, ...failure }, listeners)) woken.add(listener);
  return { answer: { firstSeq, listeners: [...woken] }, progress: { ...source, lastSeq, cache } };
}

function* partsOf(events: NewEvents): Generator<readonly NewEvent[]> {
  let part: NewEvent[] = [];
  let characters = 0;
  for (const event of events) {
    part.push(event);
    characters += event.payload.length;
    if (part.length < EVENTS_A_PART && characters < CHARACTERS_A_PART) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}
