import type { Clock } from "../ports/clock.ts";

/** A process that does not answer for so long is blocked. */
const PATIENCE_MS = 1000;

interface Settings {
  readonly clock: Clock;
  readonly ask: () => void;
  /** Aborts when the process has ended. */
  readonly over: AbortSignal;
}

type Told = (memoryBytes: number | undefined) => void;

/** Whether a process answers, and how much memory it takes up. */
export class Pulse {
  readonly #settings: Settings;
  #waiting: Told[] = [];
  #answered = new AbortController();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Bytes of memory that it takes up; `undefined`: it is blocked, or has ended. Who asks meanwhile gets the same answer. */
  feel(): Promise<number | undefined> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) void this.#ask();
    });
  }

  /** It has answered. */
  heard(memoryBytes: number): void {
    this.#answered.abort();
    this.#tell(memoryBytes);
  }

  async #ask(): Promise<void> {
    const { clock, ask, over } = this.#settings;
    const answered = new AbortController();
    this.#answered = answered;
    ask();
    await clock.sleepUntil(clock.now() + PATIENCE_MS, AbortSignal.any([answered.signal, over]));
    if (!answered.signal.aborted) this.#tell(undefined);
  }

  #tell(memoryBytes: number | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const told of waiting) told(memoryBytes);
  }
}
