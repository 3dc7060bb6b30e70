import type { InvocationId } from "../domain/ids.ts";
import type { LogLine } from "../domain/invocation.ts";
import type { Clock } from "../ports/clock.ts";
import { type CallLog, keepLine } from "./call-log.ts";

interface LateLog extends CallLog {
  readonly id: InvocationId;
  /** How many lines were handed on. */
  sent: number;
}

/** Lines that come after a call has ended are stored together. */
const WAIT_MS = 100;

/** Gathers what calls print after they have ended; it counts against the same limits. */
export class LateLines {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #flushed: (id: InvocationId, logs: readonly LogLine[]) => void;
  #late: LateLog | undefined;

  /** `signal` aborts when the process has ended; then what is left has to be flushed. */
  constructor(clock: Clock, signal: AbortSignal, flushed: (id: InvocationId, logs: readonly LogLine[]) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#flushed = flushed;
  }

  add(id: InvocationId, line: LogLine): void {
    if (this.#late?.id !== id) {
      this.flush();
      this.#late = { id, logs: [], logSize: 0, sent: 0 };
    }
    const late = this.#late;
    if (keepLine(late, line) === undefined) return;
    if (late.logs.length - late.sent === 1) void this.#clock.sleepUntil(this.#clock.now() + WAIT_MS, this.#signal).then(() => this.flush());
  }

  flush(): void {
    const late = this.#late;
    const logs = late?.logs.slice(late.sent) ?? [];
    if (late === undefined || logs.length === 0) return;
    late.sent = late.logs.length;
    this.#flushed(late.id, logs);
  }
}
