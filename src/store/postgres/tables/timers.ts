import { messageOf } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { Timer, TimerInstant, TimerStore, UnreadableTimer } from "../../../ports/stores/timer-store.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { type Row, isOf, timerInstantOf, timerOf, timerPlaceOf } from "../../rows/rows.ts";
import type { Database, Sql } from "../connection/sql.ts";

/** The timer keeps its position, which may be further than the caller knows. */
const INSERT_TIMER = `insert into timers (source_id, prop, schedule, catch_up, anchor_at, next_at) values ($1, $2, $3, $4, $5, $6)
  on conflict (source_id, prop) do update
  set schedule = excluded.schedule, catch_up = excluded.catch_up, anchor_at = excluded.anchor_at, next_at = excluded.next_at
  where timers.schedule <> excluded.schedule or timers.catch_up <> excluded.catch_up or timers.anchor_at <> excluded.anchor_at`;
const INSERT_INSTANT = `insert into timer_instants (source_id, prop, planned_at, last_planned_at, count, state, invocation_id, reason)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`;
const SETTLE_INSTANT = `update timer_instants set state = $4, reason = $5, invocation_id = null
  where source_id = $1 and prop = $2 and planned_at = $3 and state = 'running'`;
const PLAN = "source_id = $1 and prop = $2 and schedule = $3 and anchor_at = $4";

export async function replaceTimers(sql: Sql, sourceId: DeployedId, timers: readonly Timer[]): Promise<void> {
  await sql.run(
    "delete from timers where source_id = $1 and prop <> all ($2::text[])",
    sourceId,
    timers.map(({ prop }) => prop),
  );
  for (const { prop, schedule, catchUp, anchorAt, nextAt } of timers)
    await sql.run(INSERT_TIMER, sourceId, prop, JSON.stringify(schedule), catchUp, anchorAt, nextAt ?? null);
}

export function timerTables(db: Database, readRows: ReadRows): TimerStore {
  /** Unreadable rows, which are read again on request. */
  const leftOut = new Map<string, Pick<Timer, "sourceId" | "prop">>();
  const read = (found: Row): Timer => {
    try {
      return timerOf(found);
    } catch (error) {
      const place = timerPlaceOf(found);
      leftOut.set(`${place.sourceId} ${place.prop}`, place);
      throw error;
    }
  };
  const stillUnreadable = async ({ sourceId, prop }: Pick<Timer, "sourceId" | "prop">): Promise<UnreadableTimer[]> => {
    const found = await db.first("select * from timers where source_id = $1 and prop = $2", sourceId, prop);
    try {
      if (found !== undefined) timerOf(found);
      leftOut.delete(`${sourceId} ${prop}`);
      return [];
    } catch (error) {
      return [{ sourceId, prop, problem: messageOf(error) }];
    }
  };
  return {
    listTimers: async (of) =>
      readRows("a timer of", await db.all("select * from timers where source_id = any ($1::text[]) order by source_id, prop", of), read),
    listUnreadableTimers: async (of) => (await Promise.all([...leftOut.values()].filter(isOf(of)).map(stillUnreadable))).flat(),
    advance: (timer, to, instants) => db.transaction((sql) => advance(sql, timer, { to, instants })),
    async settleInstant({ state, reason, sourceId, prop, plannedAt }) {
      await db.run(SETTLE_INSTANT, sourceId, prop, plannedAt, state, reason ?? null);
    },
    listRunning: async (of) =>
      (await db.all("select * from timer_instants where state = 'running' and source_id = any ($1::text[]) order by source_id, prop, planned_at", of)).map(
        timerInstantOf,
      ),
    listInstants: async (sourceId, limit) =>
      (await db.all("select * from timer_instants where source_id = $1 order by planned_at desc limit $2", sourceId, limit)).map(timerInstantOf),
  };
}

interface Step {
  readonly to: Timer;
  readonly instants: readonly TimerInstant[];
}

async function advance(sql: Sql, timer: Timer, { to, instants }: Step): Promise<boolean> {
  // One host at a time, also when the timer has no row any more.
  await sql.run("select pg_advisory_xact_lock(hashtextextended($1, 0))", `${timer.sourceId} ${timer.prop}`);
  const plan = [timer.sourceId, timer.prop, JSON.stringify(timer.schedule), timer.anchorAt];
  const stands = await sql.first(`select next_at from timers where ${PLAN}`, ...plan);
  const known = await sql.all(
    "select planned_at, invocation_id from timer_instants where source_id = $1 and prop = $2 and planned_at = any ($3::bigint[])",
    timer.sourceId,
    timer.prop,
    instants.map(({ plannedAt }) => plannedAt),
  );
  const isMoved = stands === undefined ? known.length > 0 : stands["next_at"] !== (timer.nextAt ?? null);
  // Repeated, because its first answer was lost.
  if (isMoved) return instants.some((claim) => claim.state === "running" && known.some((fate) => isSame(claim, fate)));
  for (const instant of instants) {
    const { sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId, reason } = instant;
    await sql.run(INSERT_INSTANT, sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId ?? null, reason ?? null);
  }
  if (stands !== undefined) await sql.run(`update timers set next_at = $5, anchor_at = $6 where ${PLAN}`, ...plan, to.nextAt ?? null, to.anchorAt);
  return true;
}

function isSame({ plannedAt, invocationId }: TimerInstant, fate: Row): boolean {
  return fate["planned_at"] === plannedAt && fate["invocation_id"] === invocationId;
}
