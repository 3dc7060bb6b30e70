import { messageOf } from "../../../domain/errors.ts";
import type { StepRecord } from "../../../domain/workflow/run.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { WaitingStep, WorkflowStore } from "../../../ports/stores/workflow-store.ts";

interface WaitPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly store: Pick<WorkflowStore, "nextWaitEnd" | "listWaitsOver" | "endWait">;
}

/** The wall clock may be changed during a sleep. */
const LONGEST_SLEEP_MS = 60_000;
const RETRY_MS = 1000;
const BATCH = 200;

/** A waiting step is only a row: it needs neither memory nor a process. */
export class Waits {
  readonly #ports: WaitPorts;
  readonly #over: (step: WaitingStep, record: StepRecord) => void;
  #nudge = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(ports: WaitPorts, over: (step: WaitingStep, record: StepRecord) => void) {
    this.#ports = ports;
    this.#over = over;
  }

  start(): void {
    this.#loop = this.#run();
  }

  wake(): void {
    this.#nudge.abort();
  }

  /** Abort the server's signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, signal, log, store } = this.#ports;
    signal.addEventListener("abort", () => this.wake(), { once: true });
    while (!signal.aborted) {
      this.#nudge = new AbortController();
      try {
        const [now, at] = [clock.now(), await store.nextWaitEnd()];
        if (at !== undefined && at <= now) await this.#endThose(now);
        else await clock.sleepUntil(Math.min(at ?? Number.POSITIVE_INFINITY, now + LONGEST_SLEEP_MS), this.#nudge.signal);
      } catch (error) {
        log.error("waiting steps could not continue and stay due", { reason: messageOf(error) });
        await clock.sleepUntil(clock.now() + RETRY_MS, this.#nudge.signal);
      }
    }
  }

  async #endThose(now: number): Promise<void> {
    const { store } = this.#ports;
    const due = await store.listWaitsOver(now, BATCH);
    await Promise.all(
      due.map(async (step) => {
        const record = await store.endWait(step);
        if (record !== undefined) this.#over(step, record);
      }),
    );
  }
}
