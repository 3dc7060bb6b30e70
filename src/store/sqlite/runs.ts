import { PdError } from "../../domain/errors.ts";
import type { DedupeCache } from "../../domain/dedupe.ts";
import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { Invocation, LogLine, StateChanges } from "../../domain/invocation.ts";
import type { Addendum, Committed, OpenedSource, RunCommit, RunStore } from "../../ports/run-store.ts";
import { RECEIVE, publisher } from "./deliveries.ts";
import { eventWriter } from "./event-writer.ts";
import type { Database } from "../../database/driver.ts";
import { postponer } from "./postponed.ts";
import { endedCallOf, eventOfRow, invocationOf, json, listenerOf, logLinesOf, row, rows } from "./rows.ts";
import { stepWriter } from "./workflows.ts";

export interface RunWrites {
  open(id: DeployedId): OpenedSource;
  commit(run: Travelling<RunCommit>): Committed;
  append(addendum: Travelling<Addendum>): Committed;
  writeState(id: DeployedId, changes: StateChanges, fence?: number): void;
  writeActionState(action: string, changes: StateChanges): void;
}

const OPEN = "update source_progress set fence = fence + 1 where source_id = ? returning fence, cache";
/** A write by its owner leaves the fence as it is; one past it makes every owner begin anew. */
const OUTSIDE = "update source_progress set fence = fence + 1 where source_id = ?";
const OWNED = "select 1 from source_progress where source_id = ? and fence = ?";
const INSERT_INVOCATION = `insert into invocations
  (id, source_id, trigger, started_at, duration_ms, outcome, event_count, dropped, response_status, replay_of, returned, version)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const AMEND_INVOCATION = `update invocations
  set event_count = event_count + ?, dropped = ?, outcome = coalesce(?, outcome) where id = ? and source_id = ?`;
const FIRE_INSTANT = `update timer_instants set state = 'fired'
  where source_id = ? and prop = ? and planned_at = ? and invocation_id = ? and state = 'running'`;
type StateTable = "state" | "action_state";
const OWNER = { state: "source_id", action_state: "action" } as const;

/** As it travels to the writer: the cache, which may be long, as JSON text. */
export type Travelling<Write extends { readonly cache?: DedupeCache }> = Omit<Write, "cache"> & { readonly cache?: string };

export function travelling<Write extends { readonly cache?: DedupeCache }>({ cache, ...rest }: Write): Travelling<Write> {
  return cache === undefined ? rest : { ...rest, cache: JSON.stringify(cache) };
}

export function runWrites(db: Database): RunWrites {
  const amendInvocation = db.prepare(AMEND_INVOCATION);
  const readDropped = db.prepare("select dropped from invocations where id = ? and source_id = ?");
  const deletePending = db.prepare("delete from pending_requests where id = ?");
  const fireInstant = db.prepare(FIRE_INSTANT);
  const receive = db.prepare(RECEIVE);
  const writeStep = stepWriter(db);
  const publish = publisher(db);
  const readInvocation = db.prepare("select * from invocations where id = ?");
  /** A call that has failed after all. */
  const amended = (id: InvocationId, outcome: Addendum["outcome"]): { invocation?: Invocation } => {
    const found = outcome === undefined ? undefined : row(readInvocation.get(id));
    return found === undefined ? {} : { invocation: invocationOf(found) };
  };
  const writeState = stateWriter(db, "state");
  const writeEvents = eventWriter(db);
  const postpone = postponer(db);
  const writeInvocation = invocationWriter(db);
  const writeLogs = logWriter(db);
  return {
    commit({ fence, invocation, events, postponed = [], stateChanges, cache, logs, step }) {
      const { id, sourceId, trigger, startedAt, durationMs } = invocation;
      const at = Math.round(startedAt + durationMs);
      const stored = writeEvents({ id: sourceId, fence, cache }, events, { invocationId: id, at });
      postpone(sourceId, postponed, { invocationId: id, at });
      writeInvocation(invocation);
      writeState(sourceId, stateChanges);
      const logChunk = writeLogs(sourceId, id, logs);
      deletePending.run(id);
      if (trigger.kind === "timer") fireInstant.run(sourceId, trigger.prop, trigger.plannedAt, id);
      if (trigger.kind === "event") receive.run(sourceId, trigger.messageId);
      if (step !== undefined) writeStep(step);
      const failable = step === undefined ? { invocation } : { invocation, run: step.run };
      return { events: stored, listeners: publish({ sourceId, invocationId: id, at, events: stored, logs, logChunk, ...failable }) };
    },
    append({ fence, sourceId, invocationId, at, events, postponed = [], stateChanges, cache, logs, dropped, outcome }) {
      const stored = writeEvents({ id: sourceId, fence, cache }, events, { invocationId, at });
      postpone(sourceId, postponed, { invocationId, at });
      const before: Record<string, number> = json(row(readDropped.get(invocationId, sourceId))?.["dropped"] ?? "{}");
      for (const [reason, count] of Object.entries(dropped)) before[reason] = (before[reason] ?? 0) + count;
      amendInvocation.run(events.length, JSON.stringify(before), outcome === undefined ? null : JSON.stringify(outcome), invocationId, sourceId);
      writeState(sourceId, stateChanges);
      const logChunk = writeLogs(sourceId, invocationId, logs);
      return { events: stored, listeners: publish({ sourceId, invocationId, at, events: stored, logs, logChunk, ...amended(invocationId, outcome) }) };
    },
    ...ownership(db),
  };
}

/** Who may write what a source remembers, and what is written past its runs. */
function ownership(db: Database): Pick<RunWrites, "open" | "writeState" | "writeActionState"> {
  const open = db.prepare(OPEN);
  const disown = db.prepare(OUTSIDE);
  const owned = db.prepare(OWNED);
  const readState = stateReader(db, "state");
  const writeState = stateWriter(db, "state");
  return {
    open(id) {
      const opened = row(open.get(id));
      if (opened === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot open ${id}: no source has this id`);
      return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: readState(id) };
    },
    writeState(id, changes, fence) {
      const isOwner = fence === undefined ? disown.run(id).changes > 0 : owned.get(id, fence) !== undefined;
      if (!isOwner) throw new PdError("PD_NOT_STORED", `Cannot write the state of ${id}: it is gone, or another process has taken it over`);
      writeState(id, changes);
    },
    writeActionState: stateWriter(db, "action_state"),
  };
}

function invocationWriter(db: Database) {
  const insert = db.prepare(INSERT_INVOCATION);
  return (invocation: Invocation): void => {
    const { id, sourceId, startedAt, durationMs, eventCount } = invocation;
    const texts = [invocation.trigger, invocation.outcome, invocation.dropped].map((part) => JSON.stringify(part));
    const [trigger = "", outcome = "", dropped = ""] = texts;
    const { responseStatus = null, replayOf = null, returned = null, version = null } = invocation;
    insert.run(id, sourceId, trigger, startedAt, durationMs, outcome, eventCount, dropped, responseStatus, replayOf, returned, version);
  };
}

function logWriter(db: Database) {
  const insert = db.prepare("insert into log_chunks (source_id, invocation_id, lines) select source_id, id, ? from invocations where id = ? and source_id = ?");
  return (id: DeployedId, invocationId: InvocationId, lines: readonly LogLine[]): number =>
    lines.length === 0 ? 0 : Number(insert.run(JSON.stringify(lines), invocationId, id).lastInsertRowid);
}

function stateWriter(db: Database, table: StateTable) {
  const owner = OWNER[table];
  const set = db.prepare(`insert into ${table} (${owner}, key, value) values (?, ?, ?) on conflict do update set value = excluded.value`);
  const clear = db.prepare(`delete from ${table} where ${owner} = ? and key = ?`);
  return (id: string, changes: StateChanges): void => {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) clear.run(id, key);
      else set.run(id, key, value);
    }
  };
}

function stateReader(db: Database, table: StateTable): (id: string) => Record<string, string> {
  const select = db.prepare(`select key, value from ${table} where ${OWNER[table]} = ? order by key`);
  return (id) => Object.fromEntries(rows(select.all(id)).map((entry) => [String(entry["key"]), String(entry["value"])]));
}

type RunReads = Pick<
  RunStore,
  "committed" | "getInvocation" | "listInvocations" | "listOutcomes" | "invocationLogs" | "readState" | "readActionState" | "readCache"
>;

const LIST_INVOCATIONS = `select * from invocations
  where source_id = ? and seq < coalesce((select seq from invocations where id = ?), 9e18) order by seq desc limit ?`;

/** Who has something pending of the source of a run: to be woken once too often does no harm. */
const LISTENERS_OF = `select distinct listener_id from deliveries
  where state = 'pending' and emitter_id = (select source_id from invocations where id = ?)`;

export function runReads(db: Database): RunReads {
  const invocation = db.prepare("select * from invocations where id = ?");
  const owner = db.prepare("select source_id from invocations where id = ?");
  const eventsOf = db.prepare("select * from events where source_id = ? and invocation_id = ? order by seq");
  const listenersOf = db.prepare(LISTENERS_OF);
  const invocations = db.prepare(LIST_INVOCATIONS);
  const outcomes = db.prepare("select id, started_at, duration_ms, outcome from invocations where source_id = ? order by seq desc limit ?");
  const cache = db.prepare("select cache from source_progress where source_id = ?");
  const readState = stateReader(db, "state");
  const readActionState = stateReader(db, "action_state");
  const chunksOf = db.prepare("select lines from log_chunks where invocation_id = ? order by seq");
  return {
    async getInvocation(id) {
      const found = row(invocation.get(id));
      return found === undefined ? undefined : invocationOf(found);
    },
    async committed(id) {
      const found = row(owner.get(id));
      if (found === undefined) return undefined;
      return { events: rows(eventsOf.all(String(found["source_id"]), id)).map(eventOfRow), listeners: rows(listenersOf.all(id)).map(listenerOf) };
    },
    listInvocations: async (sourceId, { limit, before }) => rows(invocations.all(sourceId, before ?? null, limit)).map(invocationOf),
    listOutcomes: async (sourceId, limit) => rows(outcomes.all(sourceId, limit)).map(endedCallOf),
    invocationLogs: async (id) => rows(chunksOf.all(id)).flatMap(logLinesOf),
    readState: async (id) => readState(id),
    readActionState: async (id) => readActionState(id),
    readCache: async (id) => json(row(cache.get(id))?.["cache"] ?? "{}"),
  };
}
