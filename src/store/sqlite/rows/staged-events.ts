/**
 * A large run is written in several transactions. Until the commit, reads exclude its events, which have numbers above
 * the source's `last_seq`, and its deliveries, which have numbers from `first_delivery`.
 */
import type { Database } from "../../../database/driver.ts";
import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import { row, rows, sourceIdOf } from "../../rows/rows.ts";
import type { FencedMessage } from "./run-message.ts";

export const NEWEST = "(select last_seq from source_progress where source_id = ?)";
/** Committed. The source's id is bound twice. */
export const OF_SOURCE = `events where source_id = ? and seq <= ${NEWEST}`;

export const DELIVERY_COUNTS = "not exists (select 1 from staged_events where source_id = deliveries.emitter_id and first_delivery <= deliveries.seq)";

export interface StagedEvents {
  begin(told: FencedMessage): void;
  /** Throws PD_NOT_STORED when another host has opened the source. */
  goOn(told: FencedMessage): void;
  /** Makes the events count. Throws as `goOn`. */
  end(told: FencedMessage): void;
  giveUp(told: FencedMessage): void;
  /** Call before other events of the source get numbers. */
  drop(sourceId: DeployedId): void;
  /** Sources with leftovers of an earlier process. */
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

export function overtaken(sourceId: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a run of ${sourceId}: it no longer exists, or another process owns it`);
}
