import type { Retention } from "../../ports/store.ts";
import type { Database } from "./open.ts";
import { row, rows } from "./rows.ts";

export interface RetentionWrites {
  prune(retention: Retention, now: number): number;
}

/** Rows of one kind that one step may remove: a step holds the writer for a few milliseconds. */
const STEP = 500;
/** Pages that one step gives back to the disk. */
const VACUUM_PAGES = 256;

const OLDEST_EVENTS = "select seq, stored_at from events where source_id = ? order by seq limit ?";
const OLDEST_INVOCATIONS = "select seq, id, started_at from invocations where source_id = ? order by seq limit ?";
const NTH_NEWEST_INVOCATION = "select seq from invocations where source_id = ? order by seq desc limit 1 offset ?";
const DROP_INSTANTS = `delete from timer_instants where (source_id, prop, planned_at) in (
  select source_id, prop, planned_at from timer_instants
  where source_id = ? and state <> 'running' and planned_at < max(?, coalesce(
    (select planned_at from timer_instants where source_id = ? order by planned_at desc limit 1 offset ?), 0))
  order by planned_at limit ?)`;

export function retentionWrites(db: Database): RetentionWrites {
  const sources = db.prepare("select source_id, last_seq from source_progress");
  const oldestEvents = db.prepare(OLDEST_EVENTS);
  const dropEvents = db.prepare("delete from events where source_id = ? and seq <= ?");
  const oldestInvocations = db.prepare(OLDEST_INVOCATIONS);
  const nthNewest = db.prepare(NTH_NEWEST_INVOCATION);
  const dropInvocations = db.prepare("delete from invocations where source_id = ? and seq <= ?");
  const dropLogs = db.prepare("delete from log_chunks where invocation_id = ?");
  const dropInstants = db.prepare(DROP_INSTANTS);

  const pruneEvents = (id: string, lastSeq: number, { maxEvents, cutoff }: { maxEvents: number; cutoff: number }): number => {
    const goes = rows(oldestEvents.all(id, STEP)).filter((event) => Number(event["seq"]) <= lastSeq - maxEvents || Number(event["stored_at"]) < cutoff);
    const last = goes.at(-1);
    return last === undefined ? 0 : dropEvents.run(id, Number(last["seq"])).changes;
  };
  const pruneInvocations = (id: string, { maxInvocations, cutoff }: { maxInvocations: number; cutoff: number }): number => {
    const boundary = Number(row(nthNewest.get(id, maxInvocations))?.["seq"] ?? 0);
    const goes = rows(oldestInvocations.all(id, STEP)).filter(
      (invocation) => Number(invocation["seq"]) <= boundary || Number(invocation["started_at"]) < cutoff,
    );
    const last = goes.at(-1);
    if (last === undefined) return 0;
    for (const invocation of goes) dropLogs.run(invocation["id"]);
    return dropInvocations.run(id, Number(last["seq"])).changes;
  };
  return {
    prune({ maxEvents, maxInvocations, maxAgeMs }, now) {
      const cutoff = now - maxAgeMs;
      let removed = 0;
      for (const source of rows(sources.all())) {
        const id = String(source["source_id"]);
        removed += pruneEvents(id, Number(source["last_seq"]), { maxEvents, cutoff });
        removed += pruneInvocations(id, { maxInvocations, cutoff });
        removed += dropInstants.run(id, cutoff, id, maxInvocations, STEP).changes;
        if (removed >= STEP) break;
      }
      const free = Number(db.pragma("freelist_count", { simple: true }));
      if (free > 0) db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
      return removed > 0 ? removed : free;
    },
  };
}
