import type { Clock } from "../../ports/clock.ts";

/** Characters at once, characters per second, and the least that a message counts for. */
const BURST = 64_000_000;
const PER_SECOND = 32_000_000;
const LEAST_PER_MESSAGE = 128;

/** Limits what the server reads from one process, so that it cannot slow down others. */
export class FlowLimit {
  readonly #clock: Clock;
  #left = BURST;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** Returns when reading may continue, or undefined for at once. */
  take(characters: number, messages: number): number | undefined {
    const now = this.#clock.now();
    this.#left = Math.min(BURST, this.#left + (Math.max(0, now - this.#at) * PER_SECOND) / 1000) - Math.max(characters, messages * LEAST_PER_MESSAGE);
    this.#at = now;
    return this.#left >= 0 ? undefined : now + (-this.#left * 1000) / PER_SECOND;
  }

  wait(until: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleepUntil(until, signal);
  }
}
