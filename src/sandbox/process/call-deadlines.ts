import type { StandingClock } from "./standing-clock.ts";

interface DeadlineSetup {
  readonly time: StandingClock;
  /** The calls that have not ended. */
  readonly inFlight: ReadonlyMap<string, { readonly deadlineAt: number }>;
  readonly over: AbortSignal;
  /** True once the process is being killed. */
  readonly isKilled: () => boolean;
  /** Called when a deadline has passed. Ends the calls whose deadline it was. */
  readonly expire: () => Promise<void>;
}

/** One timer serves all calls: it waits for the earliest deadline, and a call with an earlier one wakes it. */
export class CallDeadlines {
  readonly #setup: DeadlineSetup;
  /** The deadline that the timer waits for. Undefined while no call is in flight. */
  #awaited: { readonly deadlineAt: number; readonly wake: AbortController } | undefined;

  constructor(setup: DeadlineSetup) {
    this.#setup = setup;
  }

  /** Call for each new call, once it is in flight. */
  watch(deadlineAt: number): void {
    if (this.#awaited === undefined) void this.#run();
    else if (deadlineAt < this.#awaited.deadlineAt) this.#awaited.wake.abort();
  }

  async #run(): Promise<void> {
    const { time, over, isKilled, expire } = this.#setup;
    for (let earliest = this.#earliest(); earliest !== undefined && !over.aborted && !isKilled(); earliest = this.#earliest()) {
      const wake = new AbortController();
      this.#awaited = { deadlineAt: earliest, wake };
      if (earliest <= time.now()) await expire();
      else await time.sleepUntil(earliest, AbortSignal.any([over, wake.signal]));
    }
    this.#awaited = undefined;
  }

  #earliest(): number | undefined {
    let earliest: number | undefined;
    for (const { deadlineAt } of this.#setup.inFlight.values()) if (earliest === undefined || deadlineAt < earliest) earliest = deadlineAt;
    return earliest;
  }
}
