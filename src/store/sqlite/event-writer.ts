import { PdError } from "../../domain/errors.ts";
import type { Event, NewEvent } from "../../domain/event.ts";
import { type DeployedId, type InvocationId, eventId } from "../../domain/ids.ts";
import type { Database } from "../../database/driver.ts";
import { row } from "./rows.ts";

const ADVANCE = `update source_progress set last_seq = last_seq + ?, cache = coalesce(?, cache)
  where source_id = ? and fence = coalesce(?, fence) returning last_seq`;
export const INSERT_EVENT = `insert into events (source_id, seq, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface Progress {
  readonly id: DeployedId;
  /** Absent: what is written depends on nothing that a host remembers. */
  readonly fence?: number;
  /** JSON text. */
  readonly cache?: string | undefined;
}

/** Numbers the events after the newest; throws when the fence is stale. */
export function eventWriter(db: Database) {
  const advance = db.prepare(ADVANCE);
  const insert = db.prepare(INSERT_EVENT);
  return (progress: Progress, events: readonly NewEvent[], { invocationId, at }: { invocationId: InvocationId; at: number }): Event[] => {
    const advanced = row(advance.get(events.length, progress.cache ?? null, progress.id, progress.fence ?? null));
    if (advanced === undefined) {
      throw new PdError("PD_NOT_STORED", `Cannot store a run of ${progress.id}: it is gone, or another process has taken it over`);
    }
    const first = Number(advanced["last_seq"]) - events.length + 1;
    return events.map((event, index) => {
      const seq = first + index;
      const { channel, dedupeId = null, summary = null, ts = null, payload } = event;
      insert.run(progress.id, seq, at, channel, dedupeId, summary, ts, invocationId, payload);
      return { ...event, seq, storedAt: at, invocationId, id: eventId(at, seq) };
    });
  };
}
