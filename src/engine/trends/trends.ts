import { messageOf } from "../../domain/errors.ts";
import { isInDoubt } from "../runs/commits/in-doubt.ts";
import { NO_TALLY, type Tally, addTallies, placeOfDuration } from "../../domain/trend/tally.ts";
import {
  KEPT_MS,
  STEPS,
  STEP_NAMES,
  type Step,
  type TimedTally,
  WINDOWS,
  type WindowName,
  firstPointOf,
  pointsOf,
  startOf,
} from "../../domain/trend/window.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Meter } from "../../ports/meter.ts";
import type { StoredTally, TallyStore } from "../../ports/stores/tally-store.ts";

/** A crash loses what was counted since the last time. */
const STORE_EVERY_MS = 10_000;
/** Scope of the whole server. */
const SERVER = "";

interface TrendsPorts {
  readonly store: TallyStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** False for a deleted source, and for the triggers of workflows, whose runs are counted as runs of the workflow. */
  readonly isCounted: (scope: string) => boolean;
}

/** Counts in memory what happened since the last store. */
interface Count {
  runs: number;
  failures: number;
  events: number;
  delivered: number;
  undelivered: number;
  readonly durations: number[];
}

/** Counts runs, events and deliveries per step of time, and stores them every ten seconds. Charts read them. */
export class Trends implements Meter {
  readonly #ports: TrendsPorts;
  /** Start of a fine step → scope → count. */
  #counted = new Map<number, Map<string, Count>>();
  /** Being stored. */
  #leaving: ReadonlyMap<number, ReadonlyMap<string, Count>> = new Map();
  /** What is stored of the newest step of each scope, so that it is not read each time. */
  readonly #newest: Readonly<Record<Step, Map<string, TimedTally>>> = { fine: new Map(), coarse: new Map() };

  constructor(ports: TrendsPorts) {
    this.#ports = ports;
  }

  ran({ scope, trigger, outcome, durationMs, events }: Parameters<Meter["ran"]>[0]): void {
    const count = this.#countOf(scope);
    count.events += events;
    // A workflow counts its runs, not its steps.
    if (trigger !== "step") addRun(count, outcome === "returned", durationMs);
  }

  workflowRan({ scope, state, durationMs }: Parameters<Meter["workflowRan"]>[0]): void {
    if (state !== "cancelled") addRun(this.#countOf(scope), state === "succeeded", durationMs);
  }

  attempted({ scope, verdict }: Parameters<Meter["attempted"]>[0]): void {
    const count = this.#countOf(scope);
    if (verdict === "delivered") count.delivered++;
    else if (verdict !== "retry") count.undelivered++;
  }

  /** Until the server stops, and once then. */
  async keep(): Promise<void> {
    const { clock, signal, log } = this.#ports;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + STORE_EVERY_MS, signal);
      await this.store().catch((error: unknown) => log.warn("the figures of charts could not be stored", { reason: messageOf(error) }));
    }
  }

  async store(): Promise<void> {
    if (this.#counted.size === 0) return;
    const leaving = this.#counted;
    this.#leaving = leaving;
    this.#counted = new Map();
    try {
      const now = this.#ports.clock.now();
      const changed: StoredTally[] = [];
      // In turn: fine steps of the same hour add to the same coarse one.
      for (const [at, counts] of leaving) changed.push(...(await this.#mergedOf(at, this.#shown(counts))));
      for (const step of STEP_NAMES)
        for (const scope of this.#newest[step].keys()) if (scope !== SERVER && !this.#ports.isCounted(scope)) this.#newest[step].delete(scope);
      await this.#ports.store.putTallies(unique(changed), { fine: now - KEPT_MS.fine, coarse: now - KEPT_MS.coarse });
    } catch (error) {
      // They are read again: it is not known what is stored.
      for (const step of STEP_NAMES) this.#newest[step].clear();
      if (!isInDoubt(error)) this.#takeBack(leaving);
      throw error;
    } finally {
      this.#leaving = new Map();
    }
  }

  /** Oldest first. The last point contains now. */
  async points(scope: string, window: WindowName): Promise<readonly TimedTally[]> {
    const { clock, store } = this.#ports;
    const now = clock.now();
    const stored = await store.listTallies(scope, WINDOWS[window].step, firstPointOf(window, now));
    return pointsOf(window, now, [...stored, ...this.#waitingOf(scope)]);
  }

  /** Of the last 25 hours at most. */
  async sumSince(scope: string, since: number): Promise<Tally> {
    const stored = await this.#ports.store.listTallies(scope, "fine", since);
    return [...stored, ...this.#waitingOf(scope)].reduce<Tally>(addTallies, NO_TALLY);
  }

  /** Counted, and not stored yet. */
  #waitingOf(scope: string): readonly TimedTally[] {
    return [...this.#leaving, ...this.#counted].flatMap(([at, counts]) => {
      const count = this.#shown(counts).get(scope);
      return count === undefined ? [] : [{ ...count, at }];
    });
  }

  #countOf(scope: string): Count {
    const at = startOf(this.#ports.clock.now(), STEPS.fine);
    let counts = this.#counted.get(at);
    if (counts === undefined) this.#counted.set(at, (counts = new Map()));
    let count = counts.get(scope);
    if (count === undefined) counts.set(scope, (count = { ...NO_TALLY, durations: [] }));
    return count;
  }

  /** With the sum of all. */
  #takeBack(leaving: ReadonlyMap<number, ReadonlyMap<string, Count>>): void {
    for (const [at, counts] of leaving) {
      const own = this.#counted.get(at) ?? new Map<string, Count>();
      this.#counted.set(at, own);
      for (const [scope, count] of counts) {
        const sum = addTallies(count, own.get(scope) ?? NO_TALLY);
        own.set(scope, { ...sum, durations: [...sum.durations] });
      }
    }
  }

  #shown(counts: ReadonlyMap<string, Count>): ReadonlyMap<string, Tally> {
    const counted = [...counts].filter(([scope]) => this.#ports.isCounted(scope));
    return new Map<string, Tally>([...counted, [SERVER, counted.reduce((sum, [, count]) => addTallies(sum, count), NO_TALLY)]]);
  }

  async #mergedOf(at: number, counts: ReadonlyMap<string, Tally>): Promise<readonly StoredTally[]> {
    const merged: StoredTally[] = [];
    for (const step of STEP_NAMES)
      for (const [scope, count] of counts) {
        const start = startOf(at, STEPS[step]);
        const before = await this.#storedOf(scope, step, start);
        const after = { ...addTallies(before, count), at: start };
        this.#newest[step].set(scope, after);
        merged.push({ ...after, scope, step });
      }
    return merged;
  }

  async #storedOf(scope: string, step: Step, at: number): Promise<Tally> {
    const known = this.#newest[step].get(scope);
    if (known !== undefined && known.at === at) return known;
    // An earlier server, or an earlier leader, may have counted in the same step.
    return (await this.#ports.store.listTallies(scope, step, at)).find((tally) => tally.at === at) ?? NO_TALLY;
  }
}

function addRun(count: Count, hasSucceeded: boolean, durationMs: number): void {
  count.runs++;
  if (!hasSucceeded) count.failures++;
  const place = placeOfDuration(durationMs);
  while (count.durations.length <= place) count.durations.push(0);
  count.durations[place] = (count.durations[place] ?? 0) + 1;
}

/** The last of each. */
function unique(tallies: readonly StoredTally[]): readonly StoredTally[] {
  return [...new Map(tallies.map((tally) => [`${tally.scope} ${tally.step} ${tally.at}`, tally])).values()];
}
