import type { NewPostponedEvent } from "../../../domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { EventRange } from "../../../ports/stores/event-store.ts";
import type { PostponedStore, Released } from "../../../ports/stores/postponed-store.ts";
import { Publisher } from "./deliveries.ts";
import { eventWriter } from "../rows/event-writer.ts";
import type { Database } from "../../../database/driver.ts";
import { postponedEventOf, row, rows } from "../../rows/rows.ts";

export interface PostponedWrites {
  deletePostponed(sourceId: DeployedId, range: EventRange): number;
  releasePostponed(now: number): readonly Released[];
}

const BATCH = 200;

const INSERT = `insert into postponed_events (source_id, due_at, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Emitted by a source, or on their way to it. */
const CONCERNS = `(source_id = @sourceId or exists (select 1 from subscriptions s
  where s.listener_id = @sourceId and s.channel = postponed_events.channel and s.emitter_key in (source_id, case substr(source_id, 1, 3) when 'dc_' then 'dc_*' else 'p_*' end, '*')))`;
/** Other listeners may wait for the same event. */
const DELETE = "delete from postponed_events where source_id = @sourceId and seq between @fromSeq and @toSeq";
const LIST = `select * from postponed_events where ${CONCERNS} and seq < @beforeSeq and seq > @afterSeq order by seq desc limit @limit`;

export function postponer(db: Database) {
  const insert = db.prepare(INSERT);
  return (sourceId: DeployedId, events: readonly NewPostponedEvent[], { invocationId, at }: { invocationId: InvocationId; at: number }): void => {
    for (const { dueAt, channel, dedupeId = null, summary = null, ts = null, payload } of events)
      insert.run(sourceId, dueAt, at, channel, dedupeId, summary, ts, invocationId, payload);
  };
}

export function postponedWrites(db: Database): PostponedWrites {
  const remove = db.prepare(DELETE);
  const due = db.prepare("select * from postponed_events where due_at <= ? order by due_at, seq limit ?");
  const drop = db.prepare("delete from postponed_events where seq = ?");
  const writeEvents = eventWriter(db);
  const publisher = new Publisher(db);
  return {
    deletePostponed: (sourceId, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER }) => remove.run({ sourceId, fromSeq, toSeq }).changes,
    releasePostponed: (now) =>
      rows(due.all(now, BATCH))
        .map(postponedEventOf)
        .map(({ sourceId, seq, dueAt: _due, id: _id, storedAt: _stored, invocationId, ...event }) => {
          drop.run(seq);
          const events = writeEvents(sourceId, [event], { invocationId, at: now });
          return { sourceId, events, listeners: publisher.publish({ sourceId, invocationId, at: now, events, logs: [], logChunk: 0 }) };
        }),
  };
}

type PostponedReads = Pick<PostponedStore, "nextPostponedAt" | "listPostponed">;

export function postponedReads(db: Database): PostponedReads {
  const next = db.prepare("select min(due_at) as at from postponed_events");
  const list = db.prepare(LIST);
  return {
    async nextPostponedAt() {
      const at = row(next.get())?.["at"];
      return typeof at === "number" ? at : undefined;
    },
    listPostponed: async (sourceId, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq = 0 }) =>
      rows(list.all({ sourceId, beforeSeq, afterSeq, limit })).map(postponedEventOf),
  };
}
