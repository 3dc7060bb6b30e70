import type { DeployedId, ListenerId } from "../../../domain/ids.ts";
import type { Retention, Store } from "../../../ports/stores/store.ts";
import type { Database } from "../../../database/driver.ts";
import { hostedOrListenerOf, row, rows } from "../../rows/rows.ts";
import { OF_SOURCE } from "../rows/staged-events.ts";

export interface RetentionWrites {
  prune(sourceId: DeployedId, retention: Retention, now: number): number;
  pruneDeliveries(listenerId: ListenerId, retention: Retention, now: number): number;
  shrink(): number;
}

/** Blocks the writer for a few milliseconds. */
const STEP = 500;
const VACUUM_PAGES = 256;

const OLDEST_EVENTS = `select seq, stored_at from ${OF_SOURCE} order by seq limit ?`;
const OLDEST_INVOCATIONS = "select seq, id, started_at from invocations where source_id = ? order by seq limit ?";
const DROP_LOGS = "delete from log_chunks where invocation_id in (select id from invocations where source_id = ? and seq <= ?)";
const NTH_NEWEST_INVOCATION = "select seq from invocations where source_id = ? order by seq desc limit 1 offset ?";
const DROP_INSTANTS = `delete from timer_instants where (source_id, prop, planned_at) in (
  select source_id, prop, planned_at from timer_instants
  where source_id = ? and state <> 'running' and planned_at < max(?, coalesce(
    (select planned_at from timer_instants where source_id = ? order by planned_at desc limit 1 offset ?), 0))
  order by planned_at limit ?)`;

const DROP_DELIVERIES = `delete from deliveries where seq in (select seq from deliveries where listener_id = ?
  and state in ('delivered', 'failed', 'missed') and (created_at < ? or seq <= coalesce((select seq from deliveries where listener_id = ? order by seq desc limit 1 offset ?), 0))
  order by seq limit ?)`;

/** A prune step may delete something. Each condition is one step in an index. */
const PRUNABLE = `with states (state) as (values ('delivered'), ('failed'), ('missed')) select one.value as id from json_each(@ids) one where
  exists (select 1 from source_progress p cross join events e on e.source_id = p.source_id and e.seq <= p.last_seq - @events where p.source_id = one.value)
  or (select stored_at from events where source_id = one.value order by seq limit 1) < @cutoff
  or exists (select 1 from invocations where source_id = one.value order by seq limit 1 offset @calls)
  or (select started_at from invocations where source_id = one.value order by seq limit 1) < @cutoff
  or (select min(planned_at) from timer_instants where source_id = one.value and state <> 'running') < max(@cutoff, coalesce(
    (select planned_at from timer_instants where source_id = one.value order by planned_at desc limit 1 offset @calls), 0))
  or exists (select 1 from states where
    (select created_at from deliveries d where d.listener_id = one.value and d.state = states.state order by seq limit 1) < @cutoff
    or (select seq from deliveries d where d.listener_id = one.value and d.state = states.state order by seq limit 1) <= coalesce(
      (select seq from deliveries where listener_id = one.value order by seq desc limit 1 offset @calls), 0))
  or (select started_at from workflow_runs where workflow_id = one.value order by seq limit 1) < @cutoff
  or exists (select 1 from workflow_runs where workflow_id = one.value order by seq limit 1 offset @calls)`;

export function retentionReads(db: Database): Pick<Store, "findPrunable"> {
  const prunable = db.prepare(PRUNABLE);
  return {
    findPrunable: async (ids, { maxEvents, maxInvocations, maxAgeMs }, now) =>
      rows(prunable.all({ events: maxEvents, calls: maxInvocations, cutoff: now - maxAgeMs, ids: JSON.stringify(ids) })).map(hostedOrListenerOf),
  };
}

export function retentionWrites(db: Database): RetentionWrites {
  const progress = db.prepare("select last_seq from source_progress where source_id = ?");
  const oldestEvents = db.prepare(OLDEST_EVENTS);
  const dropEvents = db.prepare("delete from events where source_id = ? and seq <= ?");
  const oldestInvocations = db.prepare(OLDEST_INVOCATIONS);
  const nthNewest = db.prepare(NTH_NEWEST_INVOCATION);
  const dropInvocations = db.prepare("delete from invocations where source_id = ? and seq <= ?");
  const dropLogs = db.prepare(DROP_LOGS);
  const dropDeliveries = db.prepare(DROP_DELIVERIES);
  const dropInstants = db.prepare(DROP_INSTANTS);

  const pruneEvents = (id: string, lastSeq: number, { maxEvents, cutoff }: { maxEvents: number; cutoff: number }): number => {
    const goes = rows(oldestEvents.all(id, id, STEP)).filter((event) => Number(event["seq"]) <= lastSeq - maxEvents || Number(event["stored_at"]) < cutoff);
    const last = goes.at(-1);
    return last === undefined ? 0 : dropEvents.run(id, Number(last["seq"])).changes;
  };
  const pruneInvocations = (id: string, { maxInvocations, cutoff }: { maxInvocations: number; cutoff: number }): number => {
    const boundary = Number(row(nthNewest.get(id, maxInvocations))?.["seq"] ?? 0);
    const last = rows(oldestInvocations.all(id, STEP))
      .filter((invocation) => Number(invocation["seq"]) <= boundary || Number(invocation["started_at"]) < cutoff)
      .at(-1);
    if (last === undefined) return 0;
    const seq = Number(last["seq"]);
    dropLogs.run(id, seq);
    return dropInvocations.run(id, seq).changes;
  };
  return {
    prune(id, { maxEvents, maxInvocations, maxAgeMs }, now) {
      const cutoff = now - maxAgeMs;
      const lastSeq = Number(row(progress.get(id))?.["last_seq"] ?? 0);
      return (
        pruneEvents(id, lastSeq, { maxEvents, cutoff }) +
        pruneInvocations(id, { maxInvocations, cutoff }) +
        dropInstants.run(id, cutoff, id, maxInvocations, STEP).changes
      );
    },
    pruneDeliveries(id, { maxInvocations, maxAgeMs }, now) {
      return dropDeliveries.run(id, now - maxAgeMs, id, maxInvocations, STEP).changes;
    },
    shrink() {
      // SQLite frees a page for each row that is read, and `db.pragma` reads only the first.
      if (Number(db.pragma("freelist_count")) > 0) db.exec(`pragma incremental_vacuum(${VACUUM_PAGES})`);
      return Number(db.pragma("freelist_count"));
    },
  };
}
