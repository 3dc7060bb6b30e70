import type { Delivery } from "../../domain/delivery.ts";
import { messageOf } from "../../domain/errors.ts";
import type { ListenerId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DeliveryStore } from "../../ports/delivery-store.ts";
import type { Log } from "../../ports/log.ts";

/** The part of the engine's ports that a lane needs. */
export interface LanePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<DeliveryStore, "listDue" | "nextDueAt">;
}

/** What became of an attempt. `again`: it stays due, after a pause; `held`: it stays due until the listener is active again. */
export type Recorded = "settled" | "again" | "held";
/** Stores what an attempt has led to. */
export type Recording = () => Promise<Recorded>;

/** What a lane does with what is due. */
export interface LaneWork {
  /** Makes one attempt. Resolves when the listener has answered, to what records it. */
  attempt(delivery: Delivery): Promise<Recording>;
  /** Attempts that may go on at the same time, now. */
  concurrency(): number;
}

/** Read ahead of what can be sent at once. */
const BATCH = 200;
/** What could not be settled, as on a full disk, is tried again after pauses that grow. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Until what is due is read again, when it could not be. */
const READ_AGAIN_MS = 10_000;

/** What is on its way to one listener. */
export class Lane {
  readonly #ports: LanePorts;
  readonly #listenerId: ListenerId;
  readonly #work: LaneWork;
  /** Deliveries as they were read, that are not recorded yet. */
  readonly #taken = new Map<string, Delivery>();
  /** Of these, the ones that were read again as something else: they are due once more when they are recorded. */
  readonly #dueAnew = new Set<string>();
  readonly #onTheirWay = new Set<Promise<void>>();
  #next: Delivery[] = [];
  #readAt = 0;
  /** After something that could not be settled: the pause before the next attempt, which grows. */
  #pauseMs = 0;
  #resumeAt = 0;
  /** Nothing is tried before somebody wakes it. */
  #isHeld = false;
  /** How often it was woken: what was found out before the last time may be true no more. */
  #wakings = 0;
  /** Ends the wait that goes on. */
  #changed: () => void = () => {};
  #isStopping = false;
  /** Something may be due that was not read yet. */
  isWanted = true;

  constructor(ports: LanePorts, listenerId: ListenerId, work: LaneWork) {
    this.#ports = ports;
    this.#listenerId = listenerId;
    this.#work = work;
  }

  wake(): void {
    this.#wakings++;
    this.#isHeld = false;
    this.#readAgain();
  }

  /** What has not begun is read again, as it is by then. */
  putBack(): void {
    for (const { id } of this.#next.splice(0)) this.#taken.delete(id);
  }

  #readAgain(): void {
    this.isWanted = true;
    this.#changed();
  }

  /** Resolves when what was on its way has been answered. */
  stop(): Promise<unknown> {
    this.#isStopping = true;
    this.isWanted = false;
    this.#changed();
    return Promise.all(this.#onTheirWay);
  }

  /** Ends when nothing is pending any more. */
  async run(): Promise<void> {
    const { clock } = this.#ports;
    while (!this.#isStopping) {
      const concurrency = this.#work.concurrency();
      if (this.#isHeld) {
        await this.#untilChangedOr(undefined);
        continue;
      }
      if (clock.now() < this.#resumeAt) {
        await this.#untilChangedOr(this.#resumeAt);
        continue;
      }
      this.#resumeAt = 0;
      if (this.#next.length === 0 && this.isWanted) await this.#readOrLater(() => this.#readDue());
      while (this.#onTheirWay.size < concurrency && this.#next.length > 0) this.#begin(this.#next.shift());
      if (this.#onTheirWay.size >= concurrency) await this.#untilChangedOr(undefined);
      else if (!this.isWanted && !(await this.#readOrLater(() => this.#untilDue()))) return;
    }
  }

  /** What cannot be read, as from a damaged database, is read again after a while, by the lane that knows what is on its way. */
  async #readOrLater(read: () => Promise<boolean>): Promise<boolean> {
    const { clock, log } = this.#ports;
    try {
      return await read();
    } catch (error) {
      log.error("deliveries cannot be read, and stay due", { listener: this.#listenerId, reason: messageOf(error) });
      this.isWanted = true;
      this.#resumeAt = clock.now() + READ_AGAIN_MS;
      return true;
    }
  }

  /** Places are free and nothing is due: waits for what will be. False: nothing will. */
  async #untilDue(): Promise<boolean> {
    const { clock, store } = this.#ports;
    const at = await store.nextDueAt(this.#listenerId, this.#readAt);
    if (this.isWanted || this.#isStopping) return true;
    if (at === undefined && this.#taken.size === 0) return false;
    await this.#untilChangedOr(at);
    if (at !== undefined && clock.now() >= at) this.isWanted = true;
    return true;
  }

  /** An answer came, something was written for this listener, or it is so late. */
  async #untilChangedOr(at: number | undefined): Promise<void> {
    const changed = new Promise<void>((resolve) => (this.#changed = resolve));
    if (at === undefined) return changed;
    const sleep = new AbortController();
    await Promise.race([this.#ports.clock.sleepUntil(at, sleep.signal), changed]);
    sleep.abort();
  }

  /** True: it was looked. */
  async #readDue(): Promise<boolean> {
    const { clock, store } = this.#ports;
    this.#readAt = clock.now();
    const limit = BATCH + this.#taken.size;
    // What is recorded while this reads may be read as it was before.
    const before = new Map(this.#taken);
    this.isWanted = false;
    const due = await store.listDue(this.#listenerId, this.#readAt, limit);
    if (this.#isStopping) return true;
    if (due.length === limit) this.isWanted = true;
    for (const delivery of due) {
      const taken = before.get(delivery.id);
      // It is on its way, or was recorded while this read it.
      if (taken !== undefined && isSame(delivery, taken)) continue;
      // Somebody has retried it meanwhile.
      if (this.#taken.has(delivery.id)) this.#dueAnew.add(delivery.id);
      else this.#take(delivery);
    }
    return true;
  }

  #take(delivery: Delivery): void {
    this.#taken.set(delivery.id, delivery);
    this.#next.push(delivery);
  }

  #begin(delivery: Delivery | undefined): void {
    if (delivery === undefined) return;
    const wakings = this.#wakings;
    const attempt = this.#work.attempt(delivery).catch((error: unknown) => this.#notMade(error));
    const answered = attempt.then((record) => {
      this.#onTheirWay.delete(answered);
      if (this.#canGoOn()) this.#begin(this.#next.shift());
      else this.#changed();
      void this.#record(delivery, record, wakings);
    });
    this.#onTheirWay.add(answered);
  }

  /** The next one takes the place of one that was answered at once; everything else is for `run`. */
  #canGoOn(): boolean {
    return this.#next.length > 0 && !this.#isStopping && !this.#isHeld && this.#resumeAt === 0 && this.#onTheirWay.size < this.#work.concurrency();
  }

  /** As when its webhook cannot be read: it stays due, and is tried after a pause. */
  #notMade(error: unknown): Recording {
    this.#ports.log.error("an attempt to deliver could not be made, and will be made later", { listener: this.#listenerId, reason: messageOf(error) });
    return async () => "again";
  }

  /** A place is free already while an attempt is recorded; many share a commit. */
  async #record({ id }: Delivery, record: Recording, wakings: number): Promise<void> {
    const recorded = await record();
    this.#taken.delete(id);
    const isDueAnew = this.#dueAnew.delete(id);
    if (recorded === "held") return this.#hold(wakings);
    if (recorded === "settled") this.#pauseMs = 0;
    else this.#pause();
    if (isDueAnew || recorded !== "settled") this.#readAgain();
    else if (this.#taken.size === 0) this.#changed();
  }

  /** Until it is woken, unless it was since that was found out. */
  #hold(wakings: number): void {
    this.#isHeld = wakings === this.#wakings;
    this.putBack();
    this.#readAgain();
  }

  #pause(): void {
    const now = this.#ports.clock.now();
    if (now < this.#resumeAt) return;
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    this.#resumeAt = now + this.#pauseMs;
  }
}

function isSame(read: Delivery, taken: Delivery): boolean {
  return read.attemptCount === taken.attemptCount && read.nextAt === taken.nextAt;
}
