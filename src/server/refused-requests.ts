import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

export interface Refusal {
  /** Such as `431 Request Header Fields Too Large`. */
  readonly status: string;
  readonly reason: string;
  readonly address: string;
}

export interface RefusalPorts {
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "warn">;
  readonly count: (status: string) => void;
}

const WINDOW_MS = 60_000;
const MOST_LINES = 20;

export class RefusedRequests {
  readonly #ports: RefusalPorts;
  #windowEndsAt = 0;
  #lines = 0;
  #untold = 0;

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  note({ status, reason, address }: Refusal): void {
    const { clock, log, count } = this.#ports;
    const now = clock.now();
    count(status.slice(0, 3));
    if (now >= this.#windowEndsAt) [this.#windowEndsAt, this.#lines] = [now + WINDOW_MS, 0];
    if (++this.#lines > MOST_LINES) return void this.#untold++;
    log.warn("a request could not be read", { status, reason, address, ...(this.#untold === 0 ? {} : { untold: this.#untold }) });
    this.#untold = 0;
  }
}
