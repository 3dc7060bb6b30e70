import type { NewPostponedEvent } from "../../../domain/event/event.ts";
import type { PostponedStore, Released } from "../../../ports/stores/postponed-store.ts";
import { postponedEventOf } from "../../rows/rows.ts";
import type { Database, Sql } from "../connection/sql.ts";
import type { EventOf } from "./event-rows.ts";
import { emitOutside } from "./events.ts";

const BATCH = 200;
const INSERT = `insert into postponed_events (source_id, due_at, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
/** Emitted by a source, or on their way to it. */
const CONCERNS = `(source_id = $1 or exists (select 1 from subscriptions s where s.listener_id = $1 and s.channel = postponed_events.channel
  and s.emitter_key in (source_id, case substr(source_id, 1, 3) when 'dc_' then 'dc_*' else 'p_*' end, '*')))`;
/** Locks their sources in the order of commits. */
const LOCK_SOURCES = `select 1 from source_progress where source_id in
    (select source_id from postponed_events where due_at <= $1 order by due_at, seq limit ${BATCH})
  order by source_id for no key update`;
const TAKE_DUE = `delete from postponed_events where seq in (select seq from postponed_events where due_at <= $1 order by due_at, seq limit ${BATCH} for update)
  returning *`;

export async function postpone(sql: Sql, { sourceId, invocationId, at }: EventOf, events: readonly NewPostponedEvent[]): Promise<void> {
  for (const { dueAt, channel, dedupeId, summary, ts, payload } of events)
    await sql.run(INSERT, sourceId, dueAt, at, channel, dedupeId ?? null, summary ?? null, ts ?? null, invocationId, payload);
}

export function postponedTable(db: Database): PostponedStore {
  return {
    async nextPostponedAt() {
      const found = await db.first("select min(due_at) as at from postponed_events");
      return typeof found?.["at"] === "number" ? found["at"] : undefined;
    },
    listPostponed: async (sourceId, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0 }) =>
      (
        await db.all(
          `select * from postponed_events where ${CONCERNS} and seq < $2 and seq > $3 order by seq desc limit $4`,
          sourceId,
          beforeSeq,
          afterSeq,
          limit,
        )
      ).map(postponedEventOf),
    /** Other listeners may wait for the same event. */
    deletePostponed: async (sourceId, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER }) =>
      (await db.run("delete from postponed_events where source_id = $1 and seq between $2 and $3", sourceId, fromSeq, toSeq)).count,
    releasePostponed: (now) => db.transaction((sql) => release(sql, now)),
  };
}

async function release(sql: Sql, now: number): Promise<readonly Released[]> {
  await sql.all(LOCK_SOURCES, now);
  const { rows } = await sql.run(TAKE_DUE, now);
  const due = rows.map(postponedEventOf).toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
  const released: Released[] = [];
  for (const { sourceId, seq: _seq, dueAt: _due, id: _id, storedAt: _stored, invocationId, ...event } of due)
    released.push({ sourceId, ...(await emitOutside(sql, event, { sourceId, invocationId, at: now })) });
  return released;
}
