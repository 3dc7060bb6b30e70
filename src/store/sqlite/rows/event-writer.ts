import { PdError } from "../../../domain/errors.ts";
import type { Event, NewEvent } from "../../../domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { Bound, Database, Statement } from "../../../database/driver.ts";
import { row } from "../../rows/rows.ts";
import { stagedEvents } from "./staged-events.ts";
import { EVENT_COLUMNS, type FencedMessage } from "./run-message.ts";
import { storedEvents } from "../../rows/stored-commit.ts";

const ADVANCE = "update source_progress set last_seq = last_seq + ? where source_id = ? returning last_seq";
export const INSERT_EVENT = `insert into events (source_id, seq, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** This many at once cost half of single inserts. */
const TOGETHER = 50;
const INSERT_TOGETHER = `insert into events (source_id, seq, stored_at, channel, dedupe_id, summary, ts, invocation_id, payload)
  select source_id, first + column1, stored_at, column2, column3, column4, column5, invocation_id, column6
  from (select ? as source_id, ? as first, ? as stored_at, ? as invocation_id)
  cross join (values ${Array.from({ length: TOGETHER }, (_, place) => `(${place}, ?, ?, ?, ?, ?)`).join(", ")})`;

export type RunEventWriter = (told: FencedMessage, columns: readonly Bound[], firstSeq: number) => void;

export function runEventWriter(db: Database): RunEventWriter {
  const insert = db.prepare(INSERT_EVENT);
  let insertTogether: Statement | undefined;
  return ({ sourceId, id, at }, columns, firstSeq) => {
    let [place, seq] = [0, firstSeq];
    for (const step = TOGETHER * EVENT_COLUMNS; place + step <= columns.length; place += step, seq += TOGETHER) {
      insertTogether ??= db.prepare(INSERT_TOGETHER);
      insertTogether.run(sourceId, seq, at, id, ...columns.slice(place, place + step));
    }
    for (; place < columns.length; place += EVENT_COLUMNS, seq++) {
      const [channel = "", dedupeId = null, summary = null, ts = null, payload = ""] = columns.slice(place, place + EVENT_COLUMNS);
      insert.run(sourceId, seq, at, channel, dedupeId, summary, ts, id, payload);
    }
  };
}

/** Writes events outside of a run. Throws PD_NOT_STORED when the source is gone. */
export function eventWriter(db: Database) {
  const advance = db.prepare(ADVANCE);
  const insert = db.prepare(INSERT_EVENT);
  const staged = stagedEvents(db);
  return (sourceId: DeployedId, events: readonly NewEvent[], origin: { invocationId: InvocationId; at: number }): Event[] => {
    staged.drop(sourceId);
    const advanced = row(advance.get(events.length, sourceId));
    if (advanced === undefined) throw new PdError("PD_NOT_STORED", `Cannot store events of ${sourceId}: it no longer exists`);
    const stored = storedEvents(events, Number(advanced["last_seq"]) - events.length + 1, origin);
    for (const { seq, channel, dedupeId = null, summary = null, ts = null, payload } of stored)
      insert.run(sourceId, seq, origin.at, channel, dedupeId, summary, ts, origin.invocationId, payload);
    return stored;
  };
}
