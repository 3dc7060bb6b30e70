import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** A request that was answered before anybody could read it. */
export interface Refusal {
  /** As in `431 Request Header Fields Too Large`. */
  readonly status: string;
  /** Of the parser. */
  readonly reason: string;
  /** Of whoever sent it. */
  readonly address: string;
}

export interface RefusalPorts {
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "warn">;
  /** Counts one, by its status. */
  readonly count: (status: string) => void;
}

const WINDOW_MS = 60_000;
const MOST_LINES = 20;

/** Tells of refused requests: each is counted, and the first ones of a minute are logged. */
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
