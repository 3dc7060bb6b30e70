import type { DeployedId } from "../../../domain/ids.ts";
import type { Timer, TimerInstant, TimerStore, UnreadableTimer } from "../../../ports/stores/timer-store.ts";
import type { Database } from "../../../database/driver.ts";
import { messageOf } from "../../../domain/errors.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { type Row, isOf, row, rows, timerInstantOf, timerOf, timerPlaceOf } from "../../rows/rows.ts";

export interface TimerWrites {
  advance(timer: Timer, to: Timer, instants: readonly TimerInstant[]): boolean;
  settleInstant(instant: TimerInstant): void;
}

/** The timer keeps its position, which may be further than the caller knows. */
const INSERT_TIMER = `insert into timers (source_id, prop, schedule, catch_up, anchor_at, next_at) values (?, ?, ?, ?, ?, ?)
  on conflict do update set schedule = excluded.schedule, catch_up = excluded.catch_up, anchor_at = excluded.anchor_at, next_at = excluded.next_at
  where schedule <> excluded.schedule or catch_up <> excluded.catch_up or anchor_at <> excluded.anchor_at`;
const INSERT_INSTANT = `insert into timer_instants (source_id, prop, planned_at, last_planned_at, count, state, invocation_id, reason)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do nothing`;
const SETTLE_INSTANT =
  "update timer_instants set state = ?, reason = ?, invocation_id = null where source_id = ? and prop = ? and planned_at = ? and state = 'running'";

const TIMERS_OF = "select * from timers where source_id in (select value from json_each(?)) order by source_id, prop";
/** Above this, reading all timers is faster. */
const MANY_SOURCES = 500;
const RUNNING = "select * from timer_instants where state = 'running' order by source_id, prop, planned_at";

export function timerReplacer(db: Database): (sourceId: DeployedId, timers: readonly Timer[]) => void {
  const clear = db.prepare("delete from timers where source_id = ? and prop not in (select value from json_each(?))");
  const insert = db.prepare(INSERT_TIMER);
  return (sourceId, timers) => {
    clear.run(sourceId, JSON.stringify(timers.map(({ prop }) => prop)));
    for (const { prop, schedule, catchUp, anchorAt, nextAt } of timers) insert.run(sourceId, prop, JSON.stringify(schedule), catchUp, anchorAt, nextAt ?? null);
  };
}

export function timerWrites(db: Database): TimerWrites {
  const standing = db.prepare("select next_at from timers where source_id = ? and prop = ? and schedule = ? and anchor_at = ?");
  const move = db.prepare("update timers set next_at = ?, anchor_at = ? where source_id = ? and prop = ? and schedule = ? and anchor_at = ?");
  const known = db.prepare("select invocation_id from timer_instants where source_id = ? and prop = ? and planned_at = ?");
  const instant = db.prepare(INSERT_INSTANT);
  const settle = db.prepare(SETTLE_INSTANT);
  const writeInstant = ({ sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId, reason }: TimerInstant): void => {
    instant.run(sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId ?? null, reason ?? null);
  };
  return {
    advance(timer, to, instants) {
      const plan = [timer.sourceId, timer.prop, JSON.stringify(timer.schedule), timer.anchorAt];
      const stands = row(standing.get(...plan));
      const claims = instants.map((claim) => ({ claim, fate: row(known.get(claim.sourceId, claim.prop, claim.plannedAt)) }));
      const isMoved = stands === undefined ? claims.some(({ fate }) => fate !== undefined) : stands["next_at"] !== (timer.nextAt ?? null);
      // Repeated, because its first answer was lost.
      if (isMoved) return claims.some(({ claim, fate }) => claim.state === "running" && fate?.["invocation_id"] === claim.invocationId);
      instants.forEach(writeInstant);
      if (stands !== undefined) move.run(to.nextAt ?? null, to.anchorAt, ...plan);
      return true;
    },
    settleInstant: ({ state, reason, sourceId, prop, plannedAt }) => void settle.run(state, reason ?? null, sourceId, prop, plannedAt),
  };
}

type TimerReads = Pick<TimerStore, "listTimers" | "listUnreadableTimers" | "listRunning" | "listInstants">;

export function timerReads(db: Database, readRows: ReadRows): TimerReads {
  const allTimers = db.prepare("select * from timers order by source_id, prop");
  const timersOf = db.prepare(TIMERS_OF);
  const one = db.prepare("select * from timers where source_id = ? and prop = ?");
  const running = db.prepare(RUNNING);
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
  const stillUnreadable = ({ sourceId, prop }: Pick<Timer, "sourceId" | "prop">): UnreadableTimer[] => {
    const found = row(one.get(sourceId, prop));
    try {
      if (found !== undefined) timerOf(found);
      leftOut.delete(`${sourceId} ${prop}`);
      return [];
    } catch (error) {
      return [{ sourceId, prop, problem: messageOf(error) }];
    }
  };
  const instants = db.prepare("select * from timer_instants where source_id = ? order by planned_at desc limit ?");
  return {
    async listTimers(of) {
      const timers = (found: unknown) => readRows("a timer of", rows(found), read);
      return of.length > MANY_SOURCES ? timers(allTimers.all()).filter(isOf(of)) : timers(timersOf.all(JSON.stringify(of)));
    },
    listUnreadableTimers: async (of) => [...leftOut.values()].filter(isOf(of)).flatMap(stillUnreadable),
    listRunning: async (of) => rows(running.all()).map(timerInstantOf).filter(isOf(of)),
    listInstants: async (sourceId, limit) => rows(instants.all(sourceId, limit)).map(timerInstantOf),
  };
}
