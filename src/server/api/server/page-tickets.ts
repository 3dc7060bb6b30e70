import { PdError } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Time for a browser to start. */
const VALID_S = 60;
const MOST_OF_KEY = 20;

interface Issued {
  readonly key: string;
  readonly until: number;
}

/** Other users can see addresses, and histories store them. So the page's address has a ticket instead of the key, exchanged once and before it expires. */
export class PageTickets {
  readonly #issued = new Map<string, Issued>();
  readonly #clock: Pick<Clock, "now" | "randomText">;

  constructor(clock: Pick<Clock, "now" | "randomText">) {
    this.#clock = clock;
  }

  issue(key: string, validSeconds = VALID_S): string {
    const now = this.#clock.now();
    for (const [ticket, { until }] of this.#issued) if (until <= now) this.#issued.delete(ticket);
    // A key replaces only its own tickets.
    const [oldest, ...others] = [...this.#issued].filter(([, issued]) => issued.key === key);
    if (oldest !== undefined && others.length + 1 >= MOST_OF_KEY) this.#issued.delete(oldest[0]);
    const ticket = this.#clock.randomText(32);
    this.#issued.set(ticket, { key, until: now + validSeconds * 1000 });
    return ticket;
  }

  /** Throws PD_UNAUTHORIZED when the ticket is used, expired or unknown. */
  redeem(ticket: string): string {
    const issued = this.#issued.get(ticket);
    this.#issued.delete(ticket);
    if (issued !== undefined && issued.until > this.#clock.now()) return issued.key;
    throw new PdError("PD_UNAUTHORIZED", "Cannot open the page with this ticket: it was already used, or is too old", {
      fix: "Open the page again with pd open",
    });
  }
}
