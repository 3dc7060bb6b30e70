import { PdError } from "../../../domain/errors.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { Invocation, StateChanges } from "../../../domain/run/invocation.ts";
import type { Addendum, OpenedSource, RunStore } from "../../../ports/stores/run-store.ts";
import { RECEIVE } from "./deliveries.ts";
import type { Database } from "../../../database/driver.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { endedCallOf, eventOfRow, invocationOf, json, listenerOf, logLinesOf, row, rows } from "../../rows/rows.ts";
import { type RunMemory, type Staged, runEvents } from "./run-events.ts";
import { OF_SOURCE, stagedEvents } from "../rows/staged-events.ts";
import { type Failure, type AddendumMessage, type RunMessage, eventCountOf } from "../rows/run-message.ts";
import { type CommitAnswer } from "../../rows/stored-commit.ts";
import { stepWriter } from "./step-writer.ts";

export interface RunWrites {
  commit(run: RunMessage, staged?: Staged): CommitAnswer;
  append(addendum: AddendumMessage, staged?: Staged): CommitAnswer;
}

export interface StateWrites {
  open(id: DeployedId): OpenedSource;
  writeState(id: DeployedId, changes: StateChanges, fence?: number): void;
  writeActionState(action: string, changes: StateChanges): void;
}

const OPEN = "update source_progress set fence = fence + 1 where source_id = ? returning fence, cache";
/** Owners must reload the state. */
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

export function runWrites(db: Database, memory: RunMemory): RunWrites {
  const events = runEvents(db, memory);
  const insertInvocation = db.prepare(INSERT_INVOCATION);
  const amendInvocation = db.prepare(AMEND_INVOCATION);
  const readDropped = db.prepare("select dropped from invocations where id = ? and source_id = ?");
  const deletePending = db.prepare("delete from pending_requests where id = ?");
  const fireInstant = db.prepare(FIRE_INSTANT);
  const receive = db.prepare(RECEIVE);
  const writeStep = stepWriter(db);
  const readInvocation = db.prepare("select * from invocations where id = ?");
  const amended = (id: InvocationId, outcome: Addendum["outcome"]): Failure => {
    const found = outcome === undefined ? undefined : row(readInvocation.get(id));
    return found === undefined ? {} : { invocation: invocationOf(found) };
  };
  const writeState = stateWriter(db, "state");
  const writeLogs = logWriter(db);
  return {
    commit(run, staged) {
      const { sourceId, id, instant, messageId, failed, step } = run;
      const written = events.write(run, staged);
      insertInvocation.run(...run.invocation);
      if (run.stateChanges !== undefined) writeState(sourceId, run.stateChanges);
      const logChunk = writeLogs(run);
      deletePending.run(id);
      if (instant !== undefined) fireInstant.run(sourceId, instant.prop, instant.plannedAt, id);
      if (messageId !== undefined) receive.run(sourceId, messageId);
      if (step !== undefined) writeStep(step);
      return events.publish(run, written, { logChunk, failure: () => (failed === undefined ? {} : json<Failure>(failed)) });
    },
    append(addendum, staged) {
      const { sourceId, id, dropped, outcome } = addendum;
      const written = events.write(addendum, staged);
      const before: Record<string, number> = json(row(readDropped.get(id, sourceId))?.["dropped"] ?? "{}");
      for (const [reason, count] of Object.entries(dropped)) before[reason] = (before[reason] ?? 0) + count;
      amendInvocation.run(eventCountOf(addendum), JSON.stringify(before), outcome === undefined ? null : JSON.stringify(outcome), id, sourceId);
      if (addendum.stateChanges !== undefined) writeState(sourceId, addendum.stateChanges);
      const logChunk = writeLogs(addendum);
      return events.publish(addendum, written, { logChunk, failure: () => amended(id, outcome) });
    },
  };
}

export function stateWrites(db: Database): StateWrites {
  const open = db.prepare(OPEN);
  const disown = db.prepare(OUTSIDE);
  const owned = db.prepare(OWNED);
  const staged = stagedEvents(db);
  const readState = stateReader(db, "state");
  const writeState = stateWriter(db, "state");
  return {
    open(id) {
      const opened = row(open.get(id));
      if (opened === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot open ${id}: no source has this id`);
      staged.drop(id);
      return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: readState(id) };
    },
    writeState(id, changes, fence) {
      const isOwner = fence === undefined ? disown.run(id).changes > 0 : owned.get(id, fence) !== undefined;
      if (!isOwner) throw new PdError("PD_NOT_STORED", `Cannot write the state of ${id}: it no longer exists, or another process owns it`);
      writeState(id, changes);
    },
    writeActionState: stateWriter(db, "action_state"),
  };
}

function logWriter(db: Database) {
  const insert = db.prepare("insert into log_chunks (source_id, invocation_id, lines) select source_id, id, ? from invocations where id = ? and source_id = ?");
  return ({ sourceId, id, logs }: RunMessage | AddendumMessage): number => (logs === undefined ? 0 : Number(insert.run(logs, id, sourceId).lastInsertRowid));
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
  where source_id = @sourceId and seq < case when @before is null then 9e18 else coalesce((select seq from invocations where id = @before), 0) end
  order by seq desc limit @limit`;

/** Listeners with pending deliveries of the run's source, possibly from other runs: waking a listener is harmless. */
const LISTENERS_OF = `select distinct listener_id from deliveries
  where state = 'pending' and emitter_id = (select source_id from invocations where id = ?)`;

export function runReads(db: Database, readRows: ReadRows): RunReads {
  const invocation = db.prepare("select * from invocations where id = ?");
  const owner = db.prepare("select source_id from invocations where id = ?");
  const eventsOf = db.prepare(`select * from ${OF_SOURCE} and invocation_id = ? order by seq`);
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
      const sourceId = String(found["source_id"]);
      return { events: rows(eventsOf.all(sourceId, sourceId, id)).map(eventOfRow), listeners: rows(listenersOf.all(id)).map(listenerOf) };
    },
    async listInvocations(sourceId, { limit, before }) {
      const found: Invocation[] = [];
      // Callers take a short page for the last one.
      for (let last: string | null | undefined = before ?? null; last !== undefined;) {
        const wanted = limit - found.length;
        const page = rows(invocations.all({ sourceId, before: last, limit: wanted }));
        found.push(...readRows("the run", page, invocationOf));
        last = page.length < wanted || found.length >= limit ? undefined : String(page.at(-1)?.["id"]);
      }
      return found;
    },
    listOutcomes: async (sourceId, limit) => readRows("the run", rows(outcomes.all(sourceId, limit)), endedCallOf),
    invocationLogs: async (id) => rows(chunksOf.all(id)).flatMap(logLinesOf),
    readState: async (id) => readState(id),
    readActionState: async (id) => readActionState(id),
    readCache: async (id) => json(row(cache.get(id))?.["cache"] ?? "{}"),
  };
}
