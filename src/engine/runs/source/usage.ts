import type { Clock } from "../../../ports/clock.ts";

export class Usage {
  readonly #clock: Clock;
  #count = 0;
  #lastAt: number;
  #onIdle: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastAt = clock.now();
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** 0 while in use. */
  get idleMs(): number {
    return this.isIdle ? this.#clock.now() - this.#lastAt : 0;
  }

  async during<Value>(work: () => Promise<Value>): Promise<Value> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    this.#lastAt = this.#clock.now();
    if (this.isIdle) this.#onIdle();
  }

  async untilIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}
