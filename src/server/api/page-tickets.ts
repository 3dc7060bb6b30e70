import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";

/** A browser is opened and asks within this time. */
const VALID_MS = 60_000;
/** Chosen: nobody opens more pages at once with one key. */
const MOST_OF_KEY = 20;

interface Issued {
  readonly key: string;
  readonly until: number;
}

/**
 * Hands a key to a page that is opened in a browser. Addresses are seen by other users of the machine and kept in
 * histories, so they carry a ticket that is good for one exchange within a minute, and never the key.
 */
export class PageTickets {
  readonly #issued = new Map<string, Issued>();
  readonly #clock: Pick<Clock, "now" | "randomText">;

  constructor(clock: Pick<Clock, "now" | "randomText">) {
    this.#clock = clock;
  }

  issue(key: string): string {
    const now = this.#clock.now();
    for (const [ticket, { until }] of this.#issued) if (until <= now) this.#issued.delete(ticket);
    // A key displaces its own oldest tickets, and never those of another key.
    const [oldest, ...others] = [...this.#issued].filter(([, issued]) => issued.key === key);
    if (oldest !== undefined && others.length + 1 >= MOST_OF_KEY) this.#issued.delete(oldest[0]);
    const ticket = this.#clock.randomText(32);
    this.#issued.set(ticket, { key, until: now + VALID_MS });
    return ticket;
  }

  /** The key, once. Throws PD_UNAUTHORIZED for a ticket that was used, is too old or was never issued. */
  redeem(ticket: string): string {
    const issued = this.#issued.get(ticket);
    this.#issued.delete(ticket);
    if (issued !== undefined && issued.until > this.#clock.now()) return issued.key;
    throw new PdError("PD_UNAUTHORIZED", "Cannot open the page with this ticket: it was used before, or is older than a minute", {
      fix: "pd open opens the page anew",
    });
  }
}
