import type { DeployedId } from "../../../domain/ids.ts";
import type { EventRange, EventStore } from "../../../ports/stores/event-store.ts";
import type { Committed } from "../../../ports/stores/run-store.ts";
import type { Database } from "../../../database/driver.ts";
import { Publisher } from "./deliveries.ts";
import { eventWriter } from "../rows/event-writer.ts";
import { eventOfRow, row, rows } from "../../rows/rows.ts";
import { NEWEST, OF_SOURCE } from "../rows/staged-events.ts";

export interface EventWrites {
  /** Deletes the first part of the range. `left` is the rest, or undefined. */
  deleteEvents(sourceId: DeployedId, range: EventRange): { readonly count: number; readonly left: EventRange | undefined };
  emitAgain(sourceId: DeployedId, seq: number, at: number): Committed | undefined;
}

/** Per transaction, so that other writes do not wait long. */
const STEP = 1000;
const FIRST_FROM = `select seq, stored_at from ${OF_SOURCE} and seq >= ? order by seq limit 1`;
const LAST_SEQ = "select last_seq from source_progress where source_id = ?";
const DELETE_EVENTS = `delete from ${OF_SOURCE} and seq between ? and ? and (? is null or channel = ?)`;

export function eventWrites(db: Database): EventWrites {
  const remove = db.prepare(DELETE_EVENTS);
  const first = db.prepare(FIRST_FROM);
  const last = db.prepare(LAST_SEQ);
  const find = db.prepare(`select * from ${OF_SOURCE} and seq = ?`);
  const mark = db.prepare("update events set again_of = ? where source_id = ? and seq = ?");
  const writeEvents = eventWriter(db);
  const publisher = new Publisher(db);
  return {
    emitAgain(sourceId, seq, at) {
      const found = row(find.get(sourceId, sourceId, seq));
      if (found === undefined) return undefined;
      const { id: _id, seq: _seq, storedAt: _stored, againOf = seq, invocationId, ...event } = eventOfRow(found);
      const events = writeEvents(sourceId, [event], { invocationId, at }).map((written) => ({ ...written, againOf }));
      for (const written of events) mark.run(againOf, sourceId, written.seq);
      return { events, listeners: publisher.publish({ sourceId, invocationId, at, events, logs: [], logChunk: 0 }) };
    },
    deleteEvents(sourceId, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER, channel }) {
      const from = Number(row(first.get(sourceId, sourceId, fromSeq))?.["seq"] ?? Number.POSITIVE_INFINITY);
      // Excludes events emitted between two steps.
      const to = Math.min(toSeq, Number(row(last.get(sourceId))?.["last_seq"] ?? 0));
      if (from > to) return { count: 0, left: undefined };
      const until = Math.min(to, from + STEP - 1);
      const count = remove.run(sourceId, sourceId, from, until, channel ?? null, channel ?? null).changes;
      return { count, left: until < to ? { fromSeq: until + 1, toSeq: to, ...(channel === undefined ? {} : { channel }) } : undefined };
    },
  };
}

type EventReads = Pick<EventStore, "listEvents" | "listEventsSince" | "listEventsOf" | "lastSeq" | "firstSeqSince" | "countEvents">;

const LIST = `select * from events where source_id = ? and seq < min(?, 1 + ${NEWEST}) and seq > ? and (? is null or channel = ?) order by seq desc limit ?`;

/** Searched for those of one invocation. */
const MOST_LOOKED_AT = 20_000;
const LIST_OF = `select * from (select * from ${OF_SOURCE} and seq >= ? order by seq limit ${MOST_LOOKED_AT})
  where invocation_id = ? limit ?`;

export function eventReads(db: Database): EventReads {
  const list = db.prepare(LIST);
  const since = db.prepare(`select * from ${OF_SOURCE} and seq > ? order by seq limit ?`);
  const last = db.prepare(LAST_SEQ);
  const firstSince = timeFinder(db);
  const listOf = db.prepare(LIST_OF);
  const countAll = db.prepare("select last_seq - gone as count from source_progress where source_id = ?");
  const count = db.prepare(`select count(*) as count from ${OF_SOURCE} and channel = ?`);
  return {
    listEvents: async (sourceId, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0, channel }) =>
      rows(list.all(sourceId, beforeSeq, sourceId, afterSeq, channel ?? null, channel ?? null, limit)).map(eventOfRow),
    listEventsSince: async (sourceId, afterSeq, limit) => rows(since.all(sourceId, sourceId, afterSeq, limit)).map(eventOfRow),
    listEventsOf: async ({ sourceId, invocationId, since }, limit) =>
      rows(listOf.all(sourceId, sourceId, firstSince(sourceId, since, Number(row(last.get(sourceId))?.["last_seq"] ?? 0)), invocationId, limit)).map(
        eventOfRow,
      ),
    lastSeq: async (sourceId) => Number(row(last.get(sourceId))?.["last_seq"] ?? 0),
    firstSeqSince: async (sourceId, at) => firstSince(sourceId, at, Number(row(last.get(sourceId))?.["last_seq"] ?? 0)),
    countEvents: async (sourceId, channel) =>
      Number(row(channel === undefined ? countAll.get(sourceId) : count.get(sourceId, sourceId, channel))?.["count"] ?? 0),
  };
}

/** Binary search, because numbers and times rise together. */
function timeFinder(db: Database): (sourceId: DeployedId, at: number, lastSeq: number) => number {
  const next = db.prepare(FIRST_FROM);
  return (sourceId, at, lastSeq) => {
    let [low, high] = [1, lastSeq + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = row(next.get(sourceId, sourceId, middle));
      if (found === undefined || Number(found["stored_at"]) >= at) high = middle;
      else low = Number(found["seq"]) + 1;
    }
    // Earlier events may have been deleted.
    const first = row(next.get(sourceId, sourceId, low));
    return first === undefined ? lastSeq + 1 : Number(first["seq"]);
  };
}
