import { describe, expect, it, onTestFinished } from "vitest";
import type { CatchUp, Schedule } from "../../src/domain/timer/schedule.ts";
import type { TimerTrigger, Trigger } from "../../src/domain/run/trigger.ts";
import { Scheduler, type SchedulerPorts } from "../../src/engine/timers/scheduler.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import type { Timer, TimerInstant } from "../../src/ports/stores/timer-store.ts";
import type { Trouble } from "../../src/domain/alert/alert.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const nineOClock = Date.parse("2026-03-28T09:00:00Z");

class World {
  readonly clock = new FakeClock(nineOClock);
  readonly fired: TimerTrigger[] = [];
  readonly ledger = new Map<number, TimerInstant>();
  readonly scheduler: Scheduler;
  /** The timer as another host stored it. */
  ofOtherHost: Timer | undefined;
  readonly troubles: Trouble[] = [];
  runMs = 0;
  readonly #stop = new AbortController();

  constructor() {
    const ports: SchedulerPorts = {
      clock: this.clock,
      log: silentLog,
      signal: this.#stop.signal,
      onTrouble: (trouble) => this.troubles.push(trouble),
      store: {
        advance: async (_timer, _to, instants) => {
          if (this.ofOtherHost !== undefined) return false;
          for (const instant of instants) this.ledger.set(instant.plannedAt, instant);
          return true;
        },
        listTimers: async () => (this.ofOtherHost === undefined ? [] : [this.ofOtherHost]),
        settleInstant: async (instant) => void this.ledger.set(instant.plannedAt, instant),
      },
    };
    this.scheduler = new Scheduler(ports, { invoke: async (_id, trigger) => this.#run(trigger) });
    onTestFinished(async () => {
      this.#stop.abort();
      await this.scheduler[Symbol.asyncDispose]();
    });
  }

  async #run(trigger: Trigger): Promise<void> {
    if (trigger.kind !== "timer") return;
    this.fired.push(trigger);
    if (this.runMs > 0) await this.clock.sleepUntil(this.clock.now() + this.runMs, this.#stop.signal);
    const running = this.ledger.get(trigger.plannedAt);
    if (running !== undefined) this.ledger.set(trigger.plannedAt, { ...running, state: "fired" });
  }

  /** Planned times of the runs, in minutes after nine. */
  get minutes(): number[] {
    return this.fired.map(({ plannedAt }) => (plannedAt - nineOClock) / MINUTE);
  }

  get states(): string[] {
    return [...this.ledger.values()].map(({ state, count }) => `${state} ${count}`);
  }
}

function timer(schedule: Schedule, nextAt: number, catchUp: CatchUp = "latest"): Timer {
  return { sourceId: "dc_a", prop: "timer", schedule, catchUp, anchorAt: nineOClock, nextAt };
}

const everyMinute: Schedule = { kind: "interval", seconds: 60 };

describe("a timer", () => {
  it("that another host has moved on does not fire here, and goes on where that one left it", async () => {
    const world = new World();
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    world.ofOtherHost = timer(everyMinute, nineOClock + 3 * MINUTE);
    await world.clock.setTo(nineOClock + 2 * MINUTE);
    expect([world.minutes, world.states]).toEqual([[], []]);
    world.ofOtherHost = undefined;
    await world.clock.setTo(nineOClock + 3 * MINUTE);
    expect([world.minutes, world.states]).toEqual([[3], ["fired 1"]]);
  });

  it("fires at its planned instants, not before", async () => {
    const world = new World();
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    await world.clock.setTo(nineOClock + MINUTE - 1);
    expect(world.minutes).toEqual([]);
    await world.clock.setTo(nineOClock + MINUTE);
    expect(world.minutes).toEqual([1]);
  });

  it("does not drift over a day, though each run takes 7 seconds", async () => {
    const world = new World();
    world.runMs = 7000;
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    await world.clock.setTo(nineOClock + 24 * HOUR + 30_000);
    expect(world.minutes).toEqual(Array.from({ length: 24 * 60 }, (_none, n) => n + 1));
    expect(new Set(world.states)).toEqual(new Set(["fired 1"]));
  });

  it("keeps to the wall clock of its zone over a change of summer time", async () => {
    const world = new World();
    world.scheduler.start([timer({ kind: "cron", expression: "0 12 * * *", timezone: "Europe/Berlin" }, Date.parse("2026-03-28T11:00:00Z"))]);
    await world.clock.setTo(Date.parse("2026-03-30T12:00:00Z"));
    expect(world.fired.map(({ plannedAt }) => new Date(plannedAt).toISOString())).toEqual([
      "2026-03-28T11:00:00.000Z",
      "2026-03-29T10:00:00.000Z",
      "2026-03-30T10:00:00.000Z",
    ]);
  });

  it("of more than 24.8 days waits", async () => {
    const world = new World();
    const seconds = 30 * 24 * 3600;
    const due = nineOClock + seconds * 1000;
    world.scheduler.start([timer({ kind: "interval", seconds }, due)]);
    await world.clock.setTo(nineOClock + MINUTE);
    // The scheduler checks the clock every two seconds, so the test skips all but the first and last minute.
    world.clock.jumpTo(due - MINUTE);
    await world.clock.setTo(due - 1);
    expect(world.minutes).toEqual([]);
    await world.clock.setTo(due);
    expect(world.fired).toHaveLength(1);
  });

  it("of more than 24.8 days sleeps on the real clock without overflowing its timers", async () => {
    const warnings: string[] = [];
    const collect = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", collect);
    onTestFinished(() => void process.off("warning", collect));
    const stop = new AbortController();
    const slept = systemClock.sleepUntil(Date.now() + 100 * 24 * HOUR, stop.signal);
    await settled();
    stop.abort();
    await slept;
    expect(warnings).toEqual([]);
  });

  it("never overlaps itself: what comes due meanwhile becomes one run", async () => {
    const world = new World();
    world.runMs = 3.5 * MINUTE;
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    await world.clock.setTo(nineOClock + 9 * MINUTE);
    expect(world.minutes).toEqual([1, 4, 8]);
    expect(world.states).toEqual(["fired 1", "coalesced 2", "fired 1", "coalesced 3", "running 1"]);
  });

  it("stops when it is taken away, and follows a new schedule", async () => {
    const world = new World();
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    await world.clock.setTo(nineOClock + 2 * MINUTE);
    world.scheduler.replace("dc_a", [timer({ kind: "interval", seconds: 300 }, nineOClock + 5 * MINUTE)]);
    await world.clock.setTo(nineOClock + 10 * MINUTE);
    world.scheduler.replace("dc_a", []);
    await world.clock.setTo(nineOClock + 20 * MINUTE);
    expect(world.minutes).toEqual([1, 2, 5, 10]);
  });

  it("goes on when the clock is set back", async () => {
    const world = new World();
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE)]);
    await world.clock.setTo(nineOClock + 3 * MINUTE);
    world.clock.jumpTo(nineOClock);
    await world.clock.setTo(nineOClock + 6 * MINUTE);
    expect(world.minutes).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("after three hours of downtime", () => {
  it.each<[CatchUp, number[], string[]]>([
    ["latest", [180], ["coalesced 179", "fired 1"]],
    ["skip", [180], ["skipped 179", "fired 1"]],
    ["all", Array.from({ length: 180 }, (_none, n) => n + 1), Array(180).fill("fired 1")],
  ])("the policy %s settles every instant", async (policy, minutes, states) => {
    const world = new World();
    world.clock.jumpTo(nineOClock + 3 * HOUR + 1000);
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE, policy)]);
    await settled();
    await world.clock.setTo(nineOClock + 3 * HOUR + 2000);
    expect(world.minutes).toEqual(minutes);
    expect(world.states).toEqual(states);
  });

  it("seconds of a cron are settled in parts, every one of them, and one run stands for all", async () => {
    const world = new World();
    world.clock.jumpTo(nineOClock + 30 * MINUTE);
    world.scheduler.start([timer({ kind: "cron", expression: "* * * * * *", timezone: "UTC" }, nineOClock + 1000)]);
    await settled();
    await settled();
    const parts = [...world.ledger.values()];
    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(1800);
    expect(Math.max(...parts.map(({ count }) => count))).toBeLessThanOrEqual(200);
    expect(world.minutes).toEqual([30]);
  });

  it("the policy skip runs nothing that is late, and says why", async () => {
    const world = new World();
    world.clock.jumpTo(nineOClock + 3 * HOUR + 30_000);
    world.scheduler.start([timer(everyMinute, nineOClock + MINUTE, "skip")]);
    await settled();
    expect([...world.ledger.values()]).toMatchObject([{ state: "skipped", count: 180, reason: expect.stringContaining("the server was down") }]);
    expect(world.troubles).toEqual([
      { kind: "timer skipped", scope: expect.stringMatching(/^dc_/), text: expect.stringContaining("180 runs: the server was down") },
    ]);
    await world.clock.setTo(nineOClock + 3 * HOUR + MINUTE);
    expect(world.minutes).toEqual([181]);
  });
});
