import type { Clock } from "../../ports/clock.ts";

/** Without an answer within this time, a process is blocked. */
const PATIENCE_MS = 1000;

interface Settings {
  readonly clock: Clock;
  readonly ask: () => void;
  readonly over: AbortSignal;
}

type Told = (memoryBytes: number | undefined) => void;

export class Pulse {
  readonly #settings: Settings;
  readonly #waiting = new Set<Told>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Bytes of memory in use. Undefined when the process is blocked or has ended. Concurrent callers share an answer but have separate timeouts. */
  feel(): Promise<number | undefined> {
    const { clock, ask, over } = this.#settings;
    const isAsked = this.#waiting.size > 0;
    const answered = new AbortController();
    const told = new Promise<number | undefined>((resolve) => {
      const tell: Told = (memoryBytes) => {
        this.#waiting.delete(tell);
        answered.abort();
        resolve(memoryBytes);
      };
      this.#waiting.add(tell);
      void clock.sleepUntil(clock.now() + PATIENCE_MS, AbortSignal.any([answered.signal, over])).then(() => tell(undefined));
    });
    if (!isAsked) ask();
    return told;
  }

  heard(memoryBytes: number): void {
    for (const tell of this.#waiting) tell(memoryBytes);
  }
}
