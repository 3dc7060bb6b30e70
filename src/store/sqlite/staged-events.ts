/**
 * Events of a large run that is written in several transactions, and their deliveries. They lie beyond the newest event of
 * their source and the newest delivery of its events, where nobody reads, until the run is committed; a row of
 * `staged_events` tells who writes them.
 */
import type { Database } from "../../database/driver.ts";
import { PdError } from "../../domain/errors.ts";
import type { DeployedId } from "../../domain/ids.ts";
import { row, rows, sourceIdOf } from "./rows.ts";
import type { Travelling } from "./travelling.ts";

/** The newest event that counts, of the source that is its value. */
export const NEWEST = "(select last_seq from source_progress where source_id = ?)";
/** Events of a source that count; its id is its value twice. */
export const OF_SOURCE = `events where source_id = ? and seq <= ${NEWEST}`;

/** Of a row of deliveries. */
export const DELIVERY_COUNTS = "not exists (select 1 from staged_events where source_id = deliveries.emitter_id and first_delivery <= deliveries.seq)";

export interface StagedEvents {
  begin(told: Travelling): void;
  /** Throws PD_NOT_STORED when they are gone: another host has opened the source. */
  goOn(told: Travelling): void;
  /** From now on they count. Throws as `goOn`. */
  end(told: Travelling): void;
  /** They are removed, unless another host has done that. */
  giveUp(told: Travelling): void;
  /** Removes what somebody who has died, or was overtaken, has left of this source: before any other event of it gets its number. */
  drop(sourceId: DeployedId): void;
  /** Sources of which something is left, before anybody begins. */
  left(): readonly DeployedId[];
}

const BEGIN = `insert into staged_events (source_id, fence, at, first_delivery)
  values (?, ?, ?, 1 + coalesce((select seq from sqlite_sequence where name = 'deliveries'), 0))`;

export function stagedEvents(db: Database): StagedEvents {
  const begin = db.prepare(BEGIN);
  const find = db.prepare("select 1 from staged_events where source_id = ? and fence = ?");
  const end = db.prepare("delete from staged_events where source_id = ? and fence = ? returning first_delivery");
  const drop = db.prepare("delete from staged_events where source_id = ? returning first_delivery");
  const dropEvents = db.prepare(`delete from events where source_id = ? and seq > ${NEWEST}`);
  const dropDeliveries = db.prepare("delete from deliveries where emitter_id = ? and seq >= ?");
  const remove = (sourceId: DeployedId, staged: unknown): void => {
    const first = row(staged)?.["first_delivery"];
    if (first === undefined) return;
    dropEvents.run(sourceId, sourceId);
    dropDeliveries.run(sourceId, Number(first));
  };
  const list = db.prepare("select source_id as id from staged_events");
  const staged: StagedEvents = {
    begin({ sourceId, fence, at }) {
      staged.drop(sourceId);
      begin.run(sourceId, fence, at);
    },
    goOn({ sourceId, fence }) {
      if (find.get(sourceId, fence) === undefined) throw overtaken(sourceId);
    },
    end({ sourceId, fence }) {
      if (end.get(sourceId, fence) === undefined) throw overtaken(sourceId);
    },
    giveUp({ sourceId, fence }) {
      remove(sourceId, end.get(sourceId, fence));
    },
    drop(sourceId) {
      remove(sourceId, drop.get(sourceId));
    },
    left: () => rows(list.all()).map(sourceIdOf),
  };
  return staged;
}

/** What a run is told whose source is another's by now. */
export function overtaken(sourceId: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a run of ${sourceId}: it is gone, or another process has taken it over`);
}
