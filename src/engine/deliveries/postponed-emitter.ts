import type { ListenerId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { EventFeed } from "../runs/commits/event-feed.ts";
import { messageOf } from "../../domain/errors.ts";
import type { PostponedStore } from "../../ports/stores/postponed-store.ts";

export interface PostponedPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly feed: EventFeed;
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly signal: AbortSignal;
  readonly store: PostponedStore;
}

/** The wall clock may be changed during a sleep. */
const LONGEST_SLEEP_MS = 60_000;
/** Pause after a release that could not be stored. */
const RETRY_MS = 1000;

/** Emits events with a `delivery_ts` at that time. */
export class PostponedEmitter {
  readonly #ports: PostponedPorts;
  #nudge = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(ports: PostponedPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#loop = this.#run();
  }

  wake(): void {
    this.#nudge.abort();
  }

  /** Abort the server's signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, log, signal, store } = this.#ports;
    signal.addEventListener("abort", () => this.wake(), { once: true });
    while (!signal.aborted) {
      this.#nudge = new AbortController();
      try {
        const [now, at] = [clock.now(), await store.nextPostponedAt()];
        if (at !== undefined && at <= now) await this.#release(now);
        else await clock.sleepUntil(Math.min(at ?? Number.POSITIVE_INFINITY, now + LONGEST_SLEEP_MS), this.#nudge.signal);
      } catch (error) {
        log.error("postponed events could not be emitted and stay due", { reason: messageOf(error) });
        await clock.sleepUntil(clock.now() + RETRY_MS, this.#nudge.signal);
      }
    }
  }

  async #release(now: number): Promise<void> {
    const { feed, onDeliveries, store } = this.#ports;
    for (const { sourceId, events, listeners } of await store.releasePostponed(now)) {
      feed.announce(sourceId, { events });
      onDeliveries(listeners);
    }
  }
}
