import type { Delivery } from "../../domain/delivery.ts";
import { messageOf } from "../../domain/errors.ts";
import type { ListenerId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AttemptRecord, DeliveryStore } from "../../ports/delivery-store.ts";
import type { Log } from "../../ports/log.ts";

/** The part of the engine's ports that a lane needs. */
export interface LanePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<DeliveryStore, "listDue" | "nextDueAt">;
}

/**
 * What became of a delivery. `again`: it stays due, and the lane pauses; `held`: it stays due until the listener is active again; `refused`: it
 * alone cannot be recorded, and stays due.
 */
export type DeliveryOutcome = "settled" | "again" | "held" | "refused";

/** What a lane does with what is due. */
export interface LaneWork {
  /** Makes one attempt. Resolves when the listener has answered, to what is to be recorded; or to what became of the delivery without an attempt. */
  attempt(delivery: Delivery): Promise<AttemptRecord | DeliveryOutcome>;
  /** Never rejects. */
  record(attempts: readonly AttemptRecord[]): Promise<readonly DeliveryOutcome[]>;
  /** Attempts that may go on at the same time, now. */
  concurrency(): number;
}

/** Read ahead of what can be sent at once. */
const BATCH = 200;
/** So many attempts at most are recorded together. */
const RECORDED_TOGETHER = 256;
/** While so many are answered and not recorded, nothing more is sent: after a crash they are sent again. */
const MOST_UNRECORDED = 1000;
/** Until one is sent again that was refused. */
const DEFERRED_FOR_MS = 60_000;
/** What could not be settled, as on a full disk, is tried again after pauses that grow. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Until what was left out is looked for again, at least. */
const LOOK_AGAIN_MS = 100;
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
  /** Attempts that were answered since the last ones were recorded. */
  readonly #unrecorded: AttemptRecord[] = [];
  #recording: Promise<void> | undefined;
  #next: Delivery[] = [];
  #readAt = 0;
  /** The last one that was read, when more may be due behind it; `undefined`: all is read from the start. */
  #readTo: Delivery | undefined;
  /** When it is read from the start for what was left out; `undefined`: nothing was. */
  #lookAgainAt: number | undefined;
  /** Of those that are taken, the ones that were refused, and when they are read again. */
  readonly #deferred = new Map<string, number>();
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
    this.#readTo = undefined;
  }

  #readAgain(): void {
    this.isWanted = true;
    this.#readTo = undefined;
    this.#changed();
  }

  /** Resolves when what was on its way has been answered and recorded. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.isWanted = false;
    this.#changed();
    await Promise.all(this.#onTheirWay);
    await this.#recording;
  }

  /** Ends when nothing is pending any more. */
  async run(): Promise<void> {
    const { clock } = this.#ports;
    while (!this.#isStopping) {
      if (this.#isHeld) {
        await this.#untilChangedOr(undefined);
        continue;
      }
      if (this.#isPausing(clock.now())) {
        await this.#untilChangedOr(this.#resumeAt);
        continue;
      }
      this.#resumeAt = 0;
      this.#takeUpDeferred(clock.now());
      if (this.#next.length === 0 && this.isWanted) await this.#readOrLater(() => this.#readDue());
      while (this.#hasRoom() && this.#next.length > 0) this.#begin(this.#next.shift());
      if (!this.#hasRoom()) await this.#untilChangedOr(undefined);
      else if (!this.isWanted && !(await this.#readOrLater(() => this.#untilDue()))) return;
    }
  }

  /** A clock that was put back must not make a pause longer. */
  #isPausing(now: number): boolean {
    return now < this.#resumeAt && this.#resumeAt - now <= Math.max(this.#pauseMs, READ_AGAIN_MS);
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
    const at = earlier(await store.nextDueAt(this.#listenerId, this.#readAt), this.#lookAgainAt);
    if (this.isWanted || this.#isStopping) return true;
    if (at === undefined && this.#taken.size === 0) return false;
    await this.#untilChangedOr([...this.#deferred.values()].reduce(earlier, at));
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
    const after = this.#readTo;
    // What was taken may still be due as it is stored.
    const limit = after === undefined ? BATCH + this.#taken.size : BATCH;
    // What is recorded while this reads may be read as it was before.
    const before = new Map(this.#taken);
    this.isWanted = false;
    this.#readTo = undefined;
    if (after === undefined) this.#lookAgainAt = undefined;
    const { deliveries: due, isPartial } = await store.listDue(this.#listenerId, { now: this.#readAt, limit, after });
    if (this.#isStopping) return true;
    if (isPartial) this.#lookAgainAt = clock.now() + LOOK_AGAIN_MS;
    // It may be wanted from the start by now.
    if (due.length === limit && !this.isWanted) this.#readTo = due.at(-1);
    if (due.length === limit) this.isWanted = true;
    for (const delivery of due) {
      const taken = before.get(delivery.id);
      // It is on its way, or was recorded while this read it.
      if (taken !== undefined && isSame(delivery, taken)) continue;
      if (this.#deferred.delete(delivery.id)) this.#taken.delete(delivery.id);
      // Somebody has retried it meanwhile.
      if (this.#taken.has(delivery.id)) this.#dueAnew.add(delivery.id);
      else this.#take(delivery);
    }
    return true;
  }

  /** They are read from the start. A clock that was put back must not keep them longer. */
  #takeUpDeferred(now: number): void {
    for (const [id, at] of this.#deferred) {
      if (now < at && at - now <= DEFERRED_FOR_MS) continue;
      this.#deferred.delete(id);
      this.#taken.delete(id);
      this.#readAgain();
    }
  }

  #take(delivery: Delivery): void {
    this.#taken.set(delivery.id, delivery);
    this.#next.push(delivery);
  }

  #begin(delivery: Delivery | undefined): void {
    if (delivery === undefined) return;
    const wakings = this.#wakings;
    const answered: Promise<void> = this.#work.attempt(delivery).then(
      (made) => this.#answered(delivery, made, { answered, wakings }),
      (error: unknown) => this.#answered(delivery, this.#notMade(error), { answered, wakings }),
    );
    this.#onTheirWay.add(answered);
  }

  /** Its place is free at once, and the next one takes it. */
  #answered({ id }: Delivery, made: AttemptRecord | DeliveryOutcome, { answered, wakings }: { answered: Promise<void>; wakings: number }): void {
    this.#onTheirWay.delete(answered);
    if (typeof made === "string") this.#settle(id, made, wakings);
    else this.#toRecord(made);
    if (this.#canGoOn()) this.#begin(this.#next.shift());
    else this.#changed();
  }

  /** Everything else is for `run`. */
  #canGoOn(): boolean {
    return this.#next.length > 0 && !this.#isStopping && !this.#isHeld && this.#resumeAt === 0 && this.#hasRoom();
  }

  #hasRoom(): boolean {
    const unrecorded = this.#taken.size - this.#deferred.size - this.#next.length - this.#onTheirWay.size;
    return this.#onTheirWay.size < this.#work.concurrency() && unrecorded < MOST_UNRECORDED;
  }

  /** As when its webhook cannot be read: it stays due, and is tried after a pause. */
  #notMade(error: unknown): DeliveryOutcome {
    this.#ports.log.error("an attempt to deliver could not be made, and will be made later", { listener: this.#listenerId, reason: messageOf(error) });
    return "again";
  }

  #toRecord(attempt: AttemptRecord): void {
    this.#unrecorded.push(attempt);
    this.#recording ??= this.#recordAll();
  }

  /** What is answered while some are recorded is recorded after them, together. */
  async #recordAll(): Promise<void> {
    while (this.#unrecorded.length > 0) {
      const attempts = this.#unrecorded.splice(0, RECORDED_TOGETHER);
      const outcomes = await this.#work.record(attempts);
      for (const [place, attempt] of attempts.entries()) this.#recorded(attempt, outcomes[place] ?? "again");
      // Nothing can be recorded now: all of it is sent again after the next start, and the stop waits for no more.
      if (this.#isStopping && outcomes.every((outcome) => outcome === "again")) this.#unrecorded.splice(0);
      // There may be room again.
      this.#changed();
    }
    this.#recording = undefined;
  }

  #recorded({ delivery: { id }, verdict }: AttemptRecord, outcome: DeliveryOutcome): void {
    if (outcome === "refused" && !this.#dueAnew.has(id)) return void this.#deferred.set(id, this.#ports.clock.now() + DEFERRED_FOR_MS);
    this.#settle(id, outcome, this.#wakings);
    // It was read as it was before, and nobody looks for what was due by then.
    if (verdict.kind === "retry" && verdict.at <= this.#readAt) this.#readAgain();
  }

  #settle(id: string, outcome: DeliveryOutcome, wakings: number): void {
    this.#taken.delete(id);
    const isDueAnew = this.#dueAnew.delete(id);
    if (outcome === "held") return this.#hold(wakings);
    if (outcome === "settled") this.#pauseMs = 0;
    if (outcome === "again") this.#pause();
    if (isDueAnew || outcome !== "settled") this.#readAgain();
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

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function isSame(read: Delivery, taken: Delivery): boolean {
  return read.attemptCount === taken.attemptCount && read.nextAt === taken.nextAt;
}
