import type { Clock } from "../../ports/clock.ts";

/** Stops while a debugger pauses the process. */
export class StandingClock implements Pick<Clock, "now" | "sleepUntil"> {
  readonly #clock: Pick<Clock, "now" | "sleepUntil">;
  /** In milliseconds. */
  #stood = 0;
  #since: number | undefined;
  #goesOn = new AbortController();

  constructor(clock: Pick<Clock, "now" | "sleepUntil">) {
    this.#clock = clock;
  }

  now(): number {
    return (this.#since ?? this.#clock.now()) - this.#stood;
  }

  stand(): void {
    this.#since ??= this.#clock.now();
  }

  goOn(): void {
    if (this.#since === undefined) return;
    this.#stood += this.#clock.now() - this.#since;
    this.#since = undefined;
    this.#goesOn.abort();
    this.#goesOn = new AbortController();
  }

  async sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.now() < at) {
      if (this.#since === undefined) await this.#clock.sleepUntil(this.#clock.now() + at - this.now(), signal);
      else await aborted(AbortSignal.any([signal, this.#goesOn.signal]));
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
