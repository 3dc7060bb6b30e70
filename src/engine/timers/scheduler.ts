import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { messageOf } from "../../domain/errors.ts";
import { type DeployedId, type InvocationId, invocationId } from "../../domain/ids.ts";
import { isSameJson } from "../../domain/text/json.ts";
import { countInstants, nextInstant } from "../../domain/timer/schedule.ts";
import type { Timer, TimerInstant, TimerStore } from "../../ports/stores/timer-store.ts";
import { DueQueue } from "./due-queue.ts";
import { untilKnown } from "../runs/commits/in-doubt.ts";
import type { Trouble } from "../../domain/alert/alert.ts";
import type { Trigger } from "../../domain/run/trigger.ts";

export interface SchedulerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly store: Pick<TimerStore, "advance" | "settleInstant" | "listTimers">;
  readonly onTrouble: (trouble: Trouble) => void;
}

export interface TimerPlan {
  replace(sourceId: DeployedId, timers: readonly Timer[]): void;
}

/** Resolves when the run is stored. */
export interface TimerTarget {
  invoke(sourceId: DeployedId, trigger: Trigger, id: InvocationId): Promise<unknown>;
}

/** Under `skip`, an instant that is late by at most this still fires. */
const ON_TIME_MS = 5000;
/** The wall clock may be changed during a sleep. */
const LONGEST_SLEEP_MS = 2000;
/** Smaller corrections of the clock are normal. */
const CLOCK_TOLERANCE_MS = 1000;
const LEDGER_RETRY_MS = 1000;
const MOST_AT_ONCE = 100;

/**
 * Each planned instant is in the ledger before its run starts and ends there as fired, coalesced or skipped. The next
 * instant depends on the schedule, never on the last run. A timer never overlaps itself.
 */
export class Scheduler implements TimerPlan {
  readonly #ports: SchedulerPorts;
  readonly #target: TimerTarget;
  readonly #timers = new Map<string, Timer>();
  readonly #running = new Set<string>();
  #queue = new DueQueue<Timer>();
  #nudge = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(ports: SchedulerPorts, target: TimerTarget) {
    this.#ports = ports;
    this.#target = target;
  }

  start(timers: readonly Timer[]): void {
    for (const timer of timers) this.#plan(timer);
    this.#loop = this.#run();
  }

  replace(sourceId: DeployedId, timers: readonly Timer[]): void {
    const before = [...this.#timers.values()].filter((timer) => timer.sourceId === sourceId);
    for (const timer of before) if (!timers.some((next) => isSamePlan(timer, next))) this.#timers.delete(keyOf(timer));
    for (const timer of timers) if (!before.some((known) => isSamePlan(known, timer))) this.#plan(timer);
    if (this.#queue.size > 2 * this.#timers.size + 100) this.#forgetReplaced();
    this.#nudge.abort();
  }

  /** Abort the server's signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#nudge.abort();
    await this.#loop;
  }

  /** Replaced timers otherwise stay in the queue until they would be due. */
  #forgetReplaced(): void {
    this.#queue = new DueQueue();
    for (const timer of this.#timers.values()) if (timer.nextAt !== undefined && !this.#running.has(keyOf(timer))) this.#queue.add(timer.nextAt, timer);
  }

  #plan(timer: Timer): void {
    this.#timers.set(keyOf(timer), timer);
    if (timer.nextAt !== undefined) this.#queue.add(timer.nextAt, timer);
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#ports;
    const stop = (): void => this.#nudge.abort();
    signal.addEventListener("abort", stop);
    let lastNow = clock.now();
    while (!signal.aborted) {
      const now = clock.now();
      if (now < lastNow - CLOCK_TOLERANCE_MS) await this.#anchorAnew(now);
      lastNow = now;
      const due = this.#takeDue(now);
      if (due.length > 0) {
        // In parallel, so that their ledger entries share an fsync.
        await Promise.all(due.map((timer) => this.#due(timer, now)));
        continue;
      }
      const { next } = this.#queue;
      this.#nudge = new AbortController();
      await clock.sleepUntil(Math.min(next?.at ?? Number.POSITIVE_INFINITY, now + LONGEST_SLEEP_MS), this.#nudge.signal);
    }
  }

  /**
   * The clock was set back, so the next instant may be far in the future. Intervals are counted from now instead. A
   * cron's time of day occurs twice and fires once.
   */
  async #anchorAnew(now: number): Promise<void> {
    for (const timer of this.#timers.values()) {
      if (timer.schedule.kind !== "interval" || timer.nextAt === undefined || timer.nextAt <= now + timer.schedule.seconds * 1000) continue;
      const moved: Timer = { ...timer, anchorAt: now, nextAt: now + timer.schedule.seconds * 1000 };
      try {
        if (!(await this.#ports.store.advance(timer, moved, []))) {
          await this.#follow(timer);
          continue;
        }
      } catch (error) {
        this.#ports.log.error("a timer could not be adjusted to the clock", { source: timer.sourceId, reason: messageOf(error) });
        continue;
      }
      if (this.#timers.get(keyOf(timer)) === timer) this.#plan(moved);
    }
  }

  #takeDue(now: number): readonly Timer[] {
    const due: Timer[] = [];
    for (let next = this.#queue.next; next !== undefined && next.at <= now && due.length < MOST_AT_ONCE; next = this.#queue.next) {
      const timer = this.#queue.take();
      if (timer !== undefined && this.#timers.get(keyOf(timer)) === timer) due.push(timer);
    }
    return due;
  }

  /** A timer that still runs is checked again afterwards. */
  async #due(timer: Timer, now: number): Promise<void> {
    if (this.#running.has(keyOf(timer)) || timer.nextAt === undefined) return;
    const { clock, store, log } = this.#ports;
    const id = invocationId(now, clock.randomText(8));
    let moved: Timer;
    let fires: TimerInstant | undefined;
    try {
      const settled = settle(timer, now, id);
      const { instants } = settled;
      const nextAt = nextInstant(timer.schedule, timer.anchorAt, settled.handledUntil);
      const { nextAt: _before, ...rest } = timer;
      moved = nextAt === undefined ? rest : { ...rest, nextAt };
      fires = settled.fires;
      const isOurs = await untilKnown(this.#ports, () => store.advance(timer, moved, instants));
      if (!isOurs) return await this.#follow(timer);
      for (const { state, count, reason = "" } of instants)
        if (state === "skipped")
          this.#ports.onTrouble({ kind: "timer skipped", scope: timer.sourceId, text: `${count === 1 ? "one run" : `${count} runs`}: ${reason}` });
    } catch (error) {
      // Without a ledger entry nothing fires. The instant stays due.
      log.error("a timer could not be advanced", { source: timer.sourceId, reason: messageOf(error) });
      return this.#queue.add(now + LEDGER_RETRY_MS, timer);
    }
    if (this.#timers.get(keyOf(timer)) !== timer) return this.#giveUp(fires);
    this.#timers.set(keyOf(timer), moved);
    if (fires === undefined) return this.#plan(moved);
    this.#running.add(keyOf(timer));
    void this.#fire(moved, fires, id);
  }

  /** Another host has advanced the timer. */
  async #follow(timer: Timer): Promise<void> {
    const stored = (await this.#ports.store.listTimers([timer.sourceId])).find(({ prop }) => prop === timer.prop);
    if (this.#timers.get(keyOf(timer)) !== timer) return;
    if (stored === undefined) this.#timers.delete(keyOf(timer));
    else this.#plan(stored);
  }

  /** The timer was replaced while its instant was stored. */
  async #giveUp(fires: TimerInstant | undefined): Promise<void> {
    if (fires !== undefined) await this.#ports.store.settleInstant({ ...fires, state: "skipped", reason: "the schedule was changed" }).catch(() => {});
  }

  async #fire(timer: Timer, instant: TimerInstant, id: InvocationId): Promise<void> {
    const { log, store } = this.#ports;
    try {
      const trigger: Trigger = { kind: "timer", prop: timer.prop, plannedAt: instant.plannedAt, schedule: timer.schedule };
      await this.#target.invoke(timer.sourceId, trigger, id);
    } catch (error) {
      log.error("a timer's run could not be started", { source: timer.sourceId, reason: messageOf(error) });
      this.#ports.onTrouble({ kind: "timer skipped", scope: timer.sourceId, text: messageOf(error) });
      await store.settleInstant({ ...instant, state: "skipped", reason: messageOf(error) }).catch(() => {});
    } finally {
      this.#running.delete(keyOf(timer));
      const current = this.#timers.get(keyOf(timer));
      if (current?.nextAt !== undefined) this.#queue.add(current.nextAt, current);
      this.#nudge.abort();
    }
  }
}

function isSamePlan(left: Timer, right: Timer): boolean {
  const isSame = left.sourceId === right.sourceId && left.prop === right.prop && left.catchUp === right.catchUp && left.anchorAt === right.anchorAt;
  return isSame && isSameJson({ ...left.schedule }, { ...right.schedule });
}

function keyOf({ sourceId, prop }: Timer): string {
  return `${sourceId} ${prop}`;
}

interface Settlement {
  readonly instants: readonly TimerInstant[];
  readonly fires: TimerInstant | undefined;
  readonly handledUntil: number;
}

/** Applies the catch-up policy to the due instants, or to the first of very many. */
export function settle(timer: Timer, now: number, id: InvocationId): Settlement {
  const { sourceId, prop, schedule, catchUp, nextAt = now } = timer;
  const of = (plannedAt: number): Omit<TimerInstant, "state"> => ({ sourceId, prop, plannedAt, lastPlannedAt: plannedAt, count: 1 });
  const fire = (plannedAt: number, before: readonly TimerInstant[]): Settlement => {
    const running: TimerInstant = { ...of(plannedAt), state: "running", invocationId: id };
    return { instants: [...before, running], fires: running, handledUntil: plannedAt };
  };
  if (catchUp === "all") return fire(nextAt, []);
  const { count, first, beforeLast, last, isAll } = countInstants(schedule, nextAt, now);
  const firesLast = isAll && (catchUp === "latest" || now - last <= ON_TIME_MS);
  if (firesLast && beforeLast === undefined) return fire(last, []);
  const passed: TimerInstant = {
    ...of(first),
    lastPlannedAt: firesLast ? (beforeLast ?? last) : last,
    count: firesLast ? count - 1 : count,
    state: catchUp === "latest" ? "coalesced" : "skipped",
    reason:
      catchUp === "latest"
        ? "the server was down or the previous run was still running: one run covers all"
        : "the server was down or the previous run was still running",
  };
  return firesLast ? fire(last, [passed]) : { instants: [passed], fires: undefined, handledUntil: last };
}
