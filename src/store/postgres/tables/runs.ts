import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { Invocation, StateChanges } from "../../../domain/run/invocation.ts";
import type { RunStore } from "../../../ports/stores/run-store.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { type Row, endedCallOf, eventOfRow, invocationOf, json, listenerOf, logLinesOf, pendingRequestOf } from "../../rows/rows.ts";
import { inDoubt } from "../connection/errors.ts";
import type { Connections, Sql } from "../connection/sql.ts";

const LIST_INVOCATIONS = `select * from invocations
  where source_id = $1 and seq < case when $2::text is null then 9223372036854775807 else coalesce((select seq from invocations where id = $2), 0) end
  order by seq desc limit $3`;
/** Listeners with pending deliveries of the run's source, possibly from other runs: waking a listener is harmless. */
const LISTENERS_OF = "select distinct listener_id from deliveries where state = 'pending' and emitter_id = $1";
const OWN = "select 1 from source_progress where source_id = $1 and fence = $2 for no key update";
/** Owners must reload the state. */
const DISOWN = "update source_progress set fence = fence + 1 where source_id = $1";
const OPEN = "update source_progress set fence = fence + 1 where source_id = $1 returning fence, cache";

type RunTables = Omit<RunStore, "commit" | "append" | "storePending">;

const OWNER = { state: "source_id", action_state: "action" } as const;
type StateTable = keyof typeof OWNER;

interface StatePlace {
  readonly table: StateTable;
  /** A source or an action. */
  readonly owner: string;
}

/** Call with the owner of the state locked. */
export async function writeChanges(sql: Sql, { table, owner }: StatePlace, changes: StateChanges): Promise<void> {
  const column = OWNER[table];
  const entries = Object.entries(changes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const cleared = entries.filter(([, value]) => value === null).map(([key]) => key);
  const set = entries.flatMap(([key, value]) => (value === null ? [] : [{ key, value }]));
  if (cleared.length > 0) await sql.run(`delete from ${table} where ${column} = $1 and key = any ($2::text[])`, owner, cleared);
  if (set.length === 0) return;
  const write = `insert into ${table} (${column}, key, value) select $1, * from unnest($2::text[], $3::text[])
    on conflict (${column}, md5(key)) do update set value = excluded.value`;
  const [keys, values] = [set.map(({ key }) => key), set.map(({ value }) => value)];
  await sql.run(write, owner, keys, values);
}

async function readState(sql: Pick<Sql, "all">, table: StateTable, owner: string): Promise<Record<string, string>> {
  const found = await sql.all(`select key, value from ${table} where ${OWNER[table]} = $1 order by key`, owner);
  return Object.fromEntries(found.map((entry) => [String(entry["key"]), String(entry["value"])]));
}

export function runTables(db: Connections, readRows: ReadRows): RunTables {
  return {
    open: (id) =>
      db.transaction(async (sql) => {
        const { rows } = await sql.run(OPEN, id);
        const [opened] = rows;
        if (opened === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot open ${id}: no source has this id`);
        return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: await readState(sql, "state", id) };
      }),
    writeState: (id, changes, fence) =>
      db.transaction(async (sql) => {
        const { count } = fence === undefined ? await sql.run(DISOWN, id) : await sql.run(OWN, id, fence);
        if (count === 0) throw new PdError("PD_NOT_STORED", `Cannot write the state of ${id}: it no longer exists, or another process owns it`);
        await writeChanges(sql, { table: "state", owner: id }, changes);
      }),
    writeActionState: (action, changes) => db.transaction((sql) => writeChanges(sql, { table: "action_state", owner: action }, changes)),
    async committed(id) {
      await db.settleDoubts();
      try {
        const found = await db.first("select source_id from invocations where id = $1", id);
        if (found === undefined) return undefined;
        const sourceId = String(found["source_id"]);
        const events = await db.all("select * from events where source_id = $1 and invocation_id = $2 and again_of is null order by seq", sourceId, id);
        return { events: events.map(eventOfRow), listeners: (await db.all(LISTENERS_OF, sourceId)).map(listenerOf) };
      } catch (error) {
        throw inDoubt(error);
      }
    },
    listPending: async (of) =>
      readRows(
        "the stored request",
        await db.all("select * from pending_requests where source_id = any ($1::text[]) order by received_at, id", of),
        pendingRequestOf,
      ),
    async getInvocation(id) {
      const found = await db.first("select * from invocations where id = $1", id);
      return found === undefined ? undefined : invocationOf(found);
    },
    async listInvocations(sourceId, { limit, before }) {
      const found: Invocation[] = [];
      // Callers take a short page for the last one.
      for (let last: string | null | undefined = before ?? null; last !== undefined;) {
        const wanted = limit - found.length;
        const page: Row[] = await db.all(LIST_INVOCATIONS, sourceId, last, wanted);
        found.push(...readRows("the run", page, invocationOf));
        last = page.length < wanted || found.length >= limit ? undefined : String(page.at(-1)?.["id"]);
      }
      return found;
    },
    listOutcomes: async (sourceId, limit) => {
      const list = "select id, started_at, duration_ms, outcome from invocations where source_id = $1 order by seq desc limit $2";
      return readRows("the run", await db.all(list, sourceId, limit), endedCallOf);
    },
    invocationLogs: async (id) => (await db.all("select lines from log_chunks where invocation_id = $1 order by seq", id)).flatMap(logLinesOf),
    readState: (id) => readState(db, "state", id),
    readActionState: (action) => readState(db, "action_state", action),
    readCache: async (id: DeployedId) => json((await db.first("select cache from source_progress where source_id = $1", id))?.["cache"] ?? "{}"),
  };
}
