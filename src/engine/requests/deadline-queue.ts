import type { Clock } from "../../ports/clock.ts";

export type Cancel = () => void;

interface Waiter {
  readonly dueAt: number;
  onDue: (() => void) | undefined;
}

/** All waiters wait equally long, so they become due in order of arrival and one timer serves all. */
export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #signal: AbortSignal;
  #waiters: Waiter[] = [];
  #isWatching = false;

  constructor(clock: Clock, waitMs: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#signal = signal;
  }

  add(onDue: () => void): Cancel {
    const waiter: Waiter = { dueAt: this.#clock.now() + this.#waitMs, onDue };
    this.#waiters.push(waiter);
    if (!this.#isWatching) void this.#watch();
    return () => {
      waiter.onDue = undefined;
    };
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (!this.#signal.aborted) {
      const next = this.#waiters.find(({ onDue }) => onDue !== undefined);
      if (next === undefined) break;
      await this.#clock.sleepUntil(next.dueAt, this.#signal);
      this.#callDue();
    }
    this.#waiters = [];
    this.#isWatching = false;
  }

  #callDue(): void {
    const now = this.#clock.now();
    const due = this.#waiters.filter(({ dueAt, onDue }) => dueAt <= now && onDue !== undefined);
    this.#waiters = this.#waiters.filter(({ dueAt, onDue }) => dueAt > now && onDue !== undefined);
    for (const { onDue } of due) onDue?.();
  }
}
