import type { InvocationId } from "../../domain/ids.ts";
import type { LogLine } from "../../domain/run/invocation.ts";
import type { Clock } from "../../ports/clock.ts";
import { type PrintedAmount, keepLine } from "./call-log.ts";

interface LateLog {
  readonly printed: PrintedAmount;
  waiting: LogLine[];
}

/** Lines of ended calls are stored together. */
const WAIT_MS = 100;
/** Beyond this, the oldest call's amount is forgotten. */
const MOST_CALLS = 1000;

export class LateLines {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #flushed: (id: InvocationId, logs: readonly LogLine[]) => void;
  readonly #late = new Map<InvocationId, LateLog>();
  #isWaiting = false;

  /** `signal` aborts at the end of the process. Call `flush` then. */
  constructor(clock: Clock, signal: AbortSignal, flushed: (id: InvocationId, logs: readonly LogLine[]) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#flushed = flushed;
  }

  add(id: InvocationId, line: LogLine): void {
    const late = this.#late.get(id) ?? this.#begin(id);
    const kept = keepLine(late.printed, line);
    if (kept === undefined) return;
    late.waiting.push(kept);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#clock.sleepUntil(this.#clock.now() + WAIT_MS, this.#signal).then(() => this.flush());
  }

  flush(): void {
    this.#isWaiting = false;
    for (const [id, late] of this.#late) this.#hand(id, late);
  }

  #begin(id: InvocationId): LateLog {
    const [first] = this.#late;
    if (first !== undefined && this.#late.size >= MOST_CALLS) {
      this.#hand(...first);
      this.#late.delete(first[0]);
    }
    const late: LateLog = { printed: { lines: 0, size: 0 }, waiting: [] };
    this.#late.set(id, late);
    return late;
  }

  #hand(id: InvocationId, late: LateLog): void {
    if (late.waiting.length > 0) this.#flushed(id, late.waiting);
    late.waiting = [];
  }
}
