import type { DeployedId } from "../../../domain/ids.ts";
import type { Store } from "../../../ports/stores/store.ts";
import { hostedOrListenerOf } from "../../rows/rows.ts";
import type { Database, Sql } from "../connection/sql.ts";

/** Rows per statement, so that others do not wait long for its locks. */
const STEP = 500;

/** Also counts what is gone. */
const PRUNE_EVENTS = `with doomed as (
    select e.seq from (select seq, stored_at from events where source_id = $1 order by seq limit ${STEP}) e
    where e.seq <= (select last_seq - $2 from source_progress where source_id = $1) or e.stored_at < $3),
  dropped as (delete from events where source_id = $1 and seq <= (select max(seq) from doomed) returning 1)
  update source_progress set gone = gone + (select count(*) from dropped) where source_id = $1 and exists (select 1 from dropped)
  returning (select count(*) from dropped) as count`;
const LAST_INVOCATION = `select max(seq) as seq from (select seq, started_at from invocations where source_id = $1 order by seq limit ${STEP}) i
  where i.seq <= coalesce((select seq from invocations where source_id = $1 order by seq desc limit 1 offset $2), 0) or i.started_at < $3`;
const DROP_LOGS = "delete from log_chunks where invocation_id in (select id from invocations where source_id = $1 and seq <= $2)";
const DROP_INSTANTS = `delete from timer_instants where (source_id, prop, planned_at) in (
  select source_id, prop, planned_at from timer_instants
  where source_id = $1 and state <> 'running' and planned_at < greatest($2, coalesce(
    (select planned_at from timer_instants where source_id = $1 order by planned_at desc limit 1 offset $3), 0))
  order by planned_at limit ${STEP})`;
const DROP_DELIVERIES = `delete from deliveries where seq in (select seq from deliveries where listener_id = $1
  and state in ('delivered', 'failed', 'missed')
  and (created_at < $2 or seq <= coalesce((select seq from deliveries where listener_id = $1 order by seq desc limit 1 offset $3), 0))
  order by seq limit ${STEP})`;

/** A prune step may delete something. Each condition is one step in an index. */
const PRUNABLE = `select one.id from unnest($1::text[]) as one (id) where
  exists (select 1 from source_progress p join events e on e.source_id = p.source_id and e.seq <= p.last_seq - $2 where p.source_id = one.id)
  or (select stored_at from events where source_id = one.id order by seq limit 1) < $4
  or exists (select 1 from invocations where source_id = one.id order by seq limit 1 offset $3)
  or (select started_at from invocations where source_id = one.id order by seq limit 1) < $4
  or (select min(planned_at) from timer_instants where source_id = one.id and state <> 'running') < greatest($4, coalesce(
    (select planned_at from timer_instants where source_id = one.id order by planned_at desc limit 1 offset $3), 0))
  or exists (select 1 from (values ('delivered'), ('failed'), ('missed')) as s (state) where
    (select created_at from deliveries d where d.listener_id = one.id and d.state = s.state order by seq limit 1) < $4
    or (select seq from deliveries d where d.listener_id = one.id and d.state = s.state order by seq limit 1) <= coalesce(
      (select seq from deliveries where listener_id = one.id order by seq desc limit 1 offset $3), 0))
  or (select started_at from workflow_runs where workflow_id = one.id order by seq limit 1) < $4
  or exists (select 1 from workflow_runs where workflow_id = one.id order by seq limit 1 offset $3)`;

export function retention(db: Database): Pick<Store, "findPrunable" | "prune" | "pruneDeliveries"> {
  return {
    findPrunable: async (ids, { maxEvents, maxInvocations, maxAgeMs }, now) =>
      (await db.all(PRUNABLE, ids, maxEvents, maxInvocations, now - maxAgeMs)).map(hostedOrListenerOf),
    async prune(id, { maxEvents, maxInvocations, maxAgeMs }, now) {
      const cutoff = now - maxAgeMs;
      const { rows } = await db.run(PRUNE_EVENTS, id, maxEvents, cutoff);
      const invocations = await db.transaction((sql) => pruneInvocations(sql, id, { maxInvocations, cutoff }));
      const instants = await db.run(DROP_INSTANTS, id, cutoff, maxInvocations);
      return Number(rows[0]?.["count"] ?? 0) + invocations + instants.count;
    },
    pruneDeliveries: async (id, { maxInvocations, maxAgeMs }, now) => (await db.run(DROP_DELIVERIES, id, now - maxAgeMs, maxInvocations)).count,
  };
}

async function pruneInvocations(sql: Sql, id: DeployedId, { maxInvocations, cutoff }: { maxInvocations: number; cutoff: number }): Promise<number> {
  const last = (await sql.first(LAST_INVOCATION, id, maxInvocations, cutoff))?.["seq"];
  if (typeof last !== "number") return 0;
  await sql.run(DROP_LOGS, id, last);
  return (await sql.run("delete from invocations where source_id = $1 and seq <= $2", id, last)).count;
}
