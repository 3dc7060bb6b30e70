import { PdError } from "../../domain/errors.ts";
import type { DedupeCache } from "../../domain/dedupe.ts";
import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { Invocation, LogLine, StateChanges } from "../../domain/invocation.ts";
import type { Addendum, Committed, InvocationPage, OpenedSource, RunCommit } from "../../ports/run-store.ts";
import { publisher } from "./deliveries.ts";
import { eventWriter } from "./event-writer.ts";
import type { Database } from "./open.ts";
import { postponer } from "./postponed.ts";
import { invocationOf, json, logLinesOf, row, rows } from "./rows.ts";

export interface RunWrites {
  open(id: DeployedId): OpenedSource;
  commit(run: Travelling<RunCommit>): Committed;
  append(addendum: Travelling<Addendum>): Committed;
  writeState(id: DeployedId, changes: StateChanges): void;
  writeActionState(action: string, changes: StateChanges): void;
}

const OPEN = "update source_progress set fence = fence + 1 where source_id = ? returning fence, cache";
const INSERT_INVOCATION = `insert into invocations
  (id, source_id, trigger, started_at, duration_ms, outcome, event_count, dropped, response_status, replay_of, returned)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
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
  const open = db.prepare(OPEN);
  const amendInvocation = db.prepare(AMEND_INVOCATION);
  const readDropped = db.prepare("select dropped from invocations where id = ? and source_id = ?");
  const deletePending = db.prepare("delete from pending_requests where id = ?");
  const fireInstant = db.prepare(FIRE_INSTANT);
  const receive = db.prepare("update deliveries set state = 'delivered', next_at = null where listener_id = ? and message_id = ?");
  const publish = publisher(db);
  const readInvocation = db.prepare("select * from invocations where id = ?");
  /** A call that has failed after all. */
  const amended = (id: InvocationId, outcome: Addendum["outcome"]): { invocation?: Invocation } => {
    const found = outcome === undefined ? undefined : row(readInvocation.get(id));
    return found === undefined ? {} : { invocation: invocationOf(found) };
  };
  const readState = stateReader(db, "state");
  const writeState = stateWriter(db, "state");
  const writeEvents = eventWriter(db);
  const postpone = postponer(db);
  const writeInvocation = invocationWriter(db);
  const writeLogs = logWriter(db);
  return {
    open(id) {
      const opened = row(open.get(id));
      if (opened === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot open ${id}: no source has this id`);
      return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: readState(id) };
    },
    commit({ fence, invocation, events, postponed = [], stateChanges, cache, logs }) {
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
      return { events: stored, listeners: publish({ sourceId, invocationId: id, at, events: stored, logs, logChunk, invocation }) };
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
    writeState,
    writeActionState: stateWriter(db, "action_state"),
  };
}

function invocationWriter(db: Database) {
  const insert = db.prepare(INSERT_INVOCATION);
  return (invocation: Invocation): void => {
    const { id, sourceId, startedAt, durationMs, eventCount } = invocation;
    const [trigger, outcome, dropped] = [invocation.trigger, invocation.outcome, invocation.dropped].map((part) => JSON.stringify(part));
    const { responseStatus = null, replayOf = null, returned = null } = invocation;
    insert.run(id, sourceId, trigger, startedAt, durationMs, outcome, eventCount, dropped, responseStatus, replayOf, returned);
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

export interface RunReads {
  getInvocation(id: InvocationId): Invocation | undefined;
  listInvocations(sourceId: DeployedId, page: InvocationPage): readonly Invocation[];
  invocationLogs(id: InvocationId): readonly LogLine[];
  readState(id: DeployedId): Readonly<Record<string, string>>;
  readActionState(action: string): Readonly<Record<string, string>>;
  readCache(id: DeployedId): DedupeCache;
}

const LIST_INVOCATIONS = `select * from invocations
  where source_id = ? and seq < coalesce((select seq from invocations where id = ?), 9e18) order by seq desc limit ?`;

export function runReads(db: Database): RunReads {
  const invocation = db.prepare("select * from invocations where id = ?");
  const invocations = db.prepare(LIST_INVOCATIONS);
  const cache = db.prepare("select cache from source_progress where source_id = ?");
  const chunksOf = db.prepare("select lines from log_chunks where invocation_id = ? order by seq");
  return {
    getInvocation(id) {
      const found = row(invocation.get(id));
      return found === undefined ? undefined : invocationOf(found);
    },
    listInvocations: (sourceId, { limit, before }) => rows(invocations.all(sourceId, before ?? null, limit)).map(invocationOf),
    invocationLogs: (id) => rows(chunksOf.all(id)).flatMap(logLinesOf),
    readState: stateReader(db, "state"),
    readActionState: stateReader(db, "action_state"),
    readCache: (id) => json(row(cache.get(id))?.["cache"] ?? "{}"),
  };
}
