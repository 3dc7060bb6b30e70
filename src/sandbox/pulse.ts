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
  readonly #waiting = new Set<Told>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Bytes of memory that it takes up; `undefined`: it is blocked, or has ended. Who asks while another waits shares the answer, and has its own time to wait. */
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

  /** It has answered. */
  heard(memoryBytes: number): void {
    for (const tell of this.#waiting) tell(memoryBytes);
  }
}
