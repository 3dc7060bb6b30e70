import type { DeployedId } from "../../domain/ids.ts";
import type { Timer, TimerInstant } from "../../ports/timer-store.ts";
import type { Database } from "./open.ts";
import { rows, timerInstantOf, timerOf } from "./rows.ts";

export interface TimerWrites {
  advance(timer: Timer, instants: readonly TimerInstant[]): void;
  settleInstant(instant: TimerInstant): void;
}

const INSERT_TIMER = "insert into timers (source_id, prop, schedule, catch_up, anchor_at, next_at) values (?, ?, ?, ?, ?, ?)";
const INSERT_INSTANT = `insert into timer_instants (source_id, prop, planned_at, last_planned_at, count, state, invocation_id, reason)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set last_planned_at = excluded.last_planned_at, count = excluded.count, state = excluded.state,
    invocation_id = excluded.invocation_id, reason = excluded.reason`;

/** Replaces the timers of one source. */
export function timerReplacer(db: Database): (sourceId: DeployedId, timers: readonly Timer[]) => void {
  const clear = db.prepare("delete from timers where source_id = ?");
  const insert = db.prepare(INSERT_TIMER);
  return (sourceId, timers) => {
    clear.run(sourceId);
    for (const { prop, schedule, catchUp, anchorAt, nextAt } of timers) insert.run(sourceId, prop, JSON.stringify(schedule), catchUp, anchorAt, nextAt ?? null);
  };
}

export function timerWrites(db: Database): TimerWrites {
  const move = db.prepare("update timers set next_at = ? where source_id = ? and prop = ?");
  const instant = db.prepare(INSERT_INSTANT);
  const writeInstant = ({ sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId, reason }: TimerInstant): void => {
    instant.run(sourceId, prop, plannedAt, lastPlannedAt, count, state, invocationId ?? null, reason ?? null);
  };
  return {
    advance(timer, instants) {
      instants.forEach(writeInstant);
      move.run(timer.nextAt ?? null, timer.sourceId, timer.prop);
    },
    settleInstant: writeInstant,
  };
}

export interface TimerReads {
  listTimers(): readonly Timer[];
  timersOf(sourceId: DeployedId): readonly Timer[];
  listRunning(): readonly TimerInstant[];
  listInstants(sourceId: DeployedId, limit: number): readonly TimerInstant[];
}

export function timerReads(db: Database): TimerReads {
  const timers = db.prepare("select * from timers");
  const ofSource = db.prepare("select * from timers where source_id = ?");
  const running = db.prepare("select * from timer_instants where state = 'running'");
  const instants = db.prepare("select * from timer_instants where source_id = ? order by planned_at desc limit ?");
  return {
    listTimers: () => rows(timers.all()).map(timerOf),
    timersOf: (sourceId) => rows(ofSource.all(sourceId)).map(timerOf),
    listRunning: () => rows(running.all()).map(timerInstantOf),
    listInstants: (sourceId, limit) => rows(instants.all(sourceId, limit)).map(timerInstantOf),
  };
}
