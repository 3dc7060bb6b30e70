import { PdError } from "../domain/errors.ts";

export interface CallLimits {
  /** Calls that run at the same time. */
  readonly maxConcurrency: number;
  /** Calls that wait; more are refused. */
  readonly maxWaiting: number;
}

/**
 * Lets the calls of one source run a few at a time, in the order in which they came. A call that wants to run alone
 * waits until nothing else runs, and whoever comes after it waits for it.
 */
export class CallQueue {
  readonly #limits: CallLimits;
  readonly #waiting: (() => void)[] = [];
  readonly #loners: (() => void)[] = [];
  #running = 0;
  #hasLoner = false;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Rejects as the call does, and with PD_TOO_BUSY when too many wait. */
  async run<Value>(call: () => Promise<Value>, isAlone: boolean): Promise<Value> {
    await this.#enter(isAlone);
    try {
      return await call();
    } finally {
      this.#leave();
    }
  }

  /** A place is given by whoever leaves, so that nobody who comes between takes it. */
  async #enter(isAlone: boolean): Promise<void> {
    const { maxConcurrency, maxWaiting } = this.#limits;
    const isFree = isAlone ? this.#running === 0 : this.#running < maxConcurrency && !this.#hasLoner && this.#loners.length === 0;
    if (isFree) {
      this.#running++;
      this.#hasLoner = isAlone;
      return;
    }
    const line = isAlone ? this.#loners : this.#waiting;
    if (line.length >= maxWaiting) throw new PdError("PD_TOO_BUSY", `Cannot run the source now: ${line.length} calls of it are waiting`);
    await new Promise<void>((resolve) => line.push(resolve));
  }

  #leave(): void {
    this.#running--;
    this.#hasLoner = false;
    if (this.#loners.length > 0) {
      if (this.#running > 0) return;
      this.#running = 1;
      this.#hasLoner = true;
      return this.#loners.shift()?.();
    }
    while (this.#waiting.length > 0 && this.#running < this.#limits.maxConcurrency) {
      this.#running++;
      this.#waiting.shift()?.();
    }
  }
}
