import type { Clock } from "../../src/ports/clock.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];
  #count = 0;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0.5;
  }

  randomText(length: number): string {
    return String(++this.#count).padStart(length, "0");
  }

  sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || at <= this.#now) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      const sleeper = { at, wake };
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", wake);
    });
  }

  /** Wakes sleepers in order, and lets each work. */
  async setTo(at: number): Promise<void> {
    await settled();
    for (;;) {
      const next = this.#sleepers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > at) break;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = at;
    await settled();
  }

  /** Does not wake sleepers. */
  jumpTo(at: number): void {
    this.#now = at;
  }
}

export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
