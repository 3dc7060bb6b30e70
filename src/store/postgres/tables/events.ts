import type { NewEvent } from "../../../domain/event/event.ts";
import { PdError } from "../../../domain/errors.ts";
import type { EventStore } from "../../../ports/stores/event-store.ts";
import type { Committed } from "../../../ports/stores/run-store.ts";
import { eventOfRow } from "../../rows/rows.ts";
import { storedEvents } from "../../rows/stored-commit.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type EventOf, columnsOfEvents, insertEvents } from "./event-rows.ts";
import { listenersOf, publish } from "./publishing.ts";

const LIST = `select * from events where source_id = $1 and seq < $2 and seq > $3 and ($4::text is null or channel = $4) order by seq desc limit $5`;
/** Numbers and times rise together, so the search from the newest end is short for recent times. */
const FIRST_SINCE = `select coalesce(
  (select seq from events where source_id = $1
    and seq > coalesce((select seq from events where source_id = $1 and stored_at < $2 order by seq desc limit 1), 0) order by seq limit 1),
  (select last_seq + 1 from source_progress where source_id = $1), 1) as seq`;
/** Searched for those of one invocation. */
const MOST_LOOKED_AT = 20_000;
const LIST_OF = `select * from (select * from events where source_id = $1 and seq >= $2 order by seq limit ${MOST_LOOKED_AT}) e
  where invocation_id = $3 order by seq limit $4`;
/** Numbers per statement, so that others do not wait long for its locks. */
const STEP = 5000;
const DELETE_EVENTS = `with dropped as (
    delete from events where source_id = $1 and seq between $2 and $3 and ($4::text is null or channel = $4) returning 1)
  update source_progress set gone = gone + (select count(*) from dropped) where source_id = $1 and exists (select 1 from dropped)
  returning (select count(*) from dropped) as count`;

/** Writes an event outside of a run, in the transaction. Throws PD_NOT_STORED when the source is gone. */
export async function emitOutside(sql: Sql, { againOf, ...event }: NewEvent & { readonly againOf?: number | undefined }, of: EventOf): Promise<Committed> {
  const { sourceId, invocationId, at } = of;
  const { rows } = await sql.run("update source_progress set last_seq = last_seq + 1 where source_id = $1 returning last_seq", sourceId);
  const seq = Number(rows[0]?.["last_seq"] ?? 0);
  if (seq === 0) throw new PdError("PD_NOT_STORED", `Cannot store events of ${sourceId}: it no longer exists`);
  await insertEvents(sql, of, { columns: columnsOfEvents([event], seq), ...(againOf === undefined ? {} : { againOf }) });
  const events = storedEvents([event], seq, of).map((stored) => (againOf === undefined ? stored : { ...stored, againOf }));
  return { events, listeners: await publish(sql, { sourceId, invocationId, at, events, logs: [], logChunk: 0 }, await listenersOf(sql, sourceId)) };
}

export function eventTable(db: Database): EventStore {
  const numberIn = async (column: string, text: string, ...values: readonly (string | number | null)[]): Promise<number> =>
    Number((await db.first(text, ...values))?.[column] ?? 0);
  const firstSince = (sourceId: string, at: number): Promise<number> => numberIn("seq", FIRST_SINCE, sourceId, at);
  const lastSeq = (sourceId: string): Promise<number> => numberIn("last_seq", "select last_seq from source_progress where source_id = $1", sourceId);
  return {
    listEvents: async (sourceId, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0, channel }) =>
      (await db.all(LIST, sourceId, numberOf(beforeSeq), numberOf(afterSeq), channel ?? null, limit)).map(eventOfRow),
    listEventsSince: async (sourceId, afterSeq, limit) =>
      (await db.all("select * from events where source_id = $1 and seq > $2 order by seq limit $3", sourceId, numberOf(afterSeq), limit)).map(eventOfRow),
    listEventsOf: async ({ sourceId, invocationId, since }, limit) =>
      (await db.all(LIST_OF, sourceId, await firstSince(sourceId, since), invocationId, limit)).map(eventOfRow),
    lastSeq,
    firstSeqSince: firstSince,
    countEvents: (sourceId, channel) =>
      channel === undefined
        ? numberIn("count", "select last_seq - gone as count from source_progress where source_id = $1", sourceId)
        : numberIn("count", "select count(*) as count from events where source_id = $1 and channel = $2", sourceId, channel),
    emitAgain: (sourceId, seq, at) =>
      db.transaction(async (sql) => {
        const found = await sql.first("select * from events where source_id = $1 and seq = $2", sourceId, seq);
        if (found === undefined) return undefined;
        const { id: _id, seq: _seq, storedAt: _stored, againOf = seq, invocationId, ...event } = eventOfRow(found);
        return emitOutside(sql, { ...event, againOf }, { sourceId, invocationId, at });
      }),
    async deleteEvents(sourceId, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER, channel }) {
      // Excludes events emitted meanwhile.
      const last = Math.min(toSeq, await lastSeq(sourceId));
      const first = await numberIn("seq", "select min(seq) as seq from events where source_id = $1 and seq >= $2", sourceId, fromSeq);
      let count = 0;
      for (let from = first; first > 0 && from <= last; from += STEP) {
        const { rows } = await db.run(DELETE_EVENTS, sourceId, from, Math.min(last, from + STEP - 1), channel ?? null);
        count += Number(rows[0]?.["count"] ?? 0);
      }
      return count;
    },
  };
}

/** Ids of events come from clients, and PostgreSQL refuses larger numbers. */
function numberOf(seq: number): number {
  return Math.min(seq, Number.MAX_SAFE_INTEGER);
}
