import { PdError } from "../../domain/errors.ts";
import type { Event, NewEvent } from "../../domain/event.ts";
import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { Database } from "../../database/driver.ts";
import { row } from "./rows.ts";
import { storedEvents } from "./travelling.ts";

const ADVANCE = "update source_progress set last_seq = last_seq + ? where source_id = ? returning last_seq";
export const INSERT_EVENT = `insert into events (source_id, seq, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes events of no run that goes on, numbered after the newest. Throws PD_NOT_STORED when their source is gone. */
export function eventWriter(db: Database) {
  const advance = db.prepare(ADVANCE);
  const insert = db.prepare(INSERT_EVENT);
  return (sourceId: DeployedId, events: readonly NewEvent[], origin: { invocationId: InvocationId; at: number }): Event[] => {
    const advanced = row(advance.get(events.length, sourceId));
    if (advanced === undefined) throw new PdError("PD_NOT_STORED", `Cannot store events of ${sourceId}: it is gone`);
    const stored = storedEvents(events, Number(advanced["last_seq"]) - events.length + 1, origin);
    for (const { seq, channel, dedupeId = null, summary = null, ts = null, payload } of stored)
      insert.run(sourceId, seq, origin.at, channel, dedupeId, summary, ts, origin.invocationId, payload);
    return stored;
  };
}
