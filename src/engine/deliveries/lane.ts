import type { Delivery } from "../../domain/delivery/delivery.ts";
import { messageOf } from "../../domain/errors.ts";
import type { ListenerId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { AttemptRecord, DeliveryStore } from "../../ports/stores/delivery-store.ts";
import type { Log } from "../../ports/log.ts";

export interface LanePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<DeliveryStore, "listDue" | "nextDueAt">;
}

/**
 * `again`: stays due and the lane pauses. `held`: stays due until the listener is active. `refused`: stays due, because
 * it alone cannot be recorded.
 */
export type DeliveryOutcome = "settled" | "again" | "held" | "refused";

export interface LaneWork {
  /** Resolves to the record to store once the listener has answered, or to an outcome when no attempt was made. */
  attempt(delivery: Delivery): Promise<AttemptRecord | DeliveryOutcome>;
  /** Never rejects. */
  record(attempts: readonly AttemptRecord[]): Promise<readonly DeliveryOutcome[]>;
  concurrency(): number;
}

const BATCH = 200;
const RECORDED_TOGETHER = 256;
/** More are not sent, because after a crash they are sent again. */
const MOST_UNRECORDED = 1000;
/** Delay before a refused delivery is sent again. */
const DEFERRED_FOR_MS = 60_000;
/** For failures that affect every delivery, such as a full disk. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Delay before an incomplete read is repeated. */
const LOOK_AGAIN_MS = 100;
const READ_AGAIN_MS = 10_000;

export class Lane {
  readonly #ports: LanePorts;
  readonly #listenerId: ListenerId;
  readonly #work: LaneWork;
  /** Read and unrecorded deliveries, in the state that was read. */
  readonly #taken = new Map<string, Delivery>();
  /** Taken deliveries that a later read found changed. They are due again after they are recorded. */
  readonly #dueAnew = new Set<string>();
  readonly #onTheirWay = new Set<Promise<void>>();
  readonly #unrecorded: AttemptRecord[] = [];
  #recording: Promise<void> | undefined;
  #next: Delivery[] = [];
  #readAt = 0;
  /** The next read starts behind this last delivery of a full read. Undefined when it starts from the beginning. */
  #readTo: Delivery | undefined;
  /** When to read from the beginning after an incomplete read. Undefined otherwise. */
  #lookAgainAt: number | undefined;
  /** Taken deliveries that were refused, with the time of their next read. */
  readonly #deferred = new Map<string, number>();
  /** Length of the last pause. Reset when a delivery settles. */
  #pauseMs = 0;
  #resumeAt = 0;
  /** True while the listener is inactive. Nothing is sent before `wake`. */
  #isHeld = false;
  /** Number of calls of `wake`, to detect stale outcomes. */
  #wakings = 0;
  #changed: () => void = () => {};
  #isStopping = false;
  /** True when unread deliveries may be due. */
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

  /** Drops unstarted deliveries, so that their current state is read. */
  putBack(): void {
    for (const { id } of this.#next.splice(0)) this.#taken.delete(id);
    this.#readTo = undefined;
  }

  #readAgain(): void {
    this.isWanted = true;
    this.#readTo = undefined;
    this.#changed();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.isWanted = false;
    this.#changed();
    await Promise.all(this.#onTheirWay);
    await this.#recording;
  }

  /** Resolves when no delivery is pending, or after `stop`. */
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

  /** A clock that was set back must not lengthen a pause. */
  #isPausing(now: number): boolean {
    return now < this.#resumeAt && this.#resumeAt - now <= Math.max(this.#pauseMs, READ_AGAIN_MS);
  }

  /** The lane stays open after a failed read, because it tracks the attempts in flight. */
  async #readOrLater(read: () => Promise<boolean>): Promise<boolean> {
    const { clock, log } = this.#ports;
    try {
      return await read();
    } catch (error) {
      log.error("deliveries cannot be read and stay due", { listener: this.#listenerId, reason: messageOf(error) });
      this.isWanted = true;
      this.#resumeAt = clock.now() + READ_AGAIN_MS;
      return true;
    }
  }

  /** Returns false when no delivery is pending. */
  async #untilDue(): Promise<boolean> {
    const { clock, store } = this.#ports;
    const at = earlier(await store.nextDueAt(this.#listenerId, this.#readAt), this.#lookAgainAt);
    if (this.isWanted || this.#isStopping) return true;
    if (at === undefined && this.#taken.size === 0) return false;
    await this.#untilChangedOr([...this.#deferred.values()].reduce(earlier, at));
    if (at !== undefined && clock.now() >= at) this.isWanted = true;
    return true;
  }

  async #untilChangedOr(at: number | undefined): Promise<void> {
    const changed = new Promise<void>((resolve) => (this.#changed = resolve));
    if (at === undefined) return changed;
    const sleep = new AbortController();
    await Promise.race([this.#ports.clock.sleepUntil(at, sleep.signal), changed]);
    sleep.abort();
  }

  async #readDue(): Promise<boolean> {
    const { clock, store } = this.#ports;
    this.#readAt = clock.now();
    const after = this.#readTo;
    // Taken deliveries are still due in the store.
    const limit = after === undefined ? BATCH + this.#taken.size : BATCH;
    // A delivery recorded during this read may be returned in its old state.
    const before = new Map(this.#taken);
    this.isWanted = false;
    this.#readTo = undefined;
    if (after === undefined) this.#lookAgainAt = undefined;
    const { deliveries: due, isPartial } = await store.listDue(this.#listenerId, { now: this.#readAt, limit, after });
    if (this.#isStopping) return true;
    if (isPartial) this.#lookAgainAt = clock.now() + LOOK_AGAIN_MS;
    // During the read, `wake` may have requested one from the beginning.
    if (due.length === limit && !this.isWanted) this.#readTo = due.at(-1);
    if (due.length === limit) this.isWanted = true;
    for (const delivery of due) {
      const taken = before.get(delivery.id);
      // In flight, or recorded during this read.
      if (taken !== undefined && isSame(delivery, taken)) continue;
      if (this.#deferred.delete(delivery.id)) this.#taken.delete(delivery.id);
      if (this.#taken.has(delivery.id)) this.#dueAnew.add(delivery.id);
      else this.#take(delivery);
    }
    return true;
  }

  /** A clock that was set back must not defer them longer. */
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

  #answered({ id }: Delivery, made: AttemptRecord | DeliveryOutcome, { answered, wakings }: { answered: Promise<void>; wakings: number }): void {
    this.#onTheirWay.delete(answered);
    if (typeof made === "string") this.#settle(id, made, wakings);
    else this.#toRecord(made);
    if (this.#canGoOn()) this.#begin(this.#next.shift());
    else this.#changed();
  }

  #canGoOn(): boolean {
    return this.#next.length > 0 && !this.#isStopping && !this.#isHeld && this.#resumeAt === 0 && this.#hasRoom();
  }

  #hasRoom(): boolean {
    const unrecorded = this.#taken.size - this.#deferred.size - this.#next.length - this.#onTheirWay.size;
    return this.#onTheirWay.size < this.#work.concurrency() && unrecorded < MOST_UNRECORDED;
  }

  #notMade(error: unknown): DeliveryOutcome {
    this.#ports.log.error("a delivery attempt could not be made and will be retried", { listener: this.#listenerId, reason: messageOf(error) });
    return "again";
  }

  #toRecord(attempt: AttemptRecord): void {
    this.#unrecorded.push(attempt);
    this.#recording ??= this.#recordAll();
  }

  /** Attempts that are answered during a write are recorded together by the next write. */
  async #recordAll(): Promise<void> {
    while (this.#unrecorded.length > 0) {
      const attempts = this.#unrecorded.splice(0, RECORDED_TOGETHER);
      const outcomes = await this.#work.record(attempts);
      for (const [place, attempt] of attempts.entries()) this.#recorded(attempt, outcomes[place] ?? "again");
      // The attempts are repeated after the next start, so `stop` does not wait for them.
      if (this.#isStopping && outcomes.every((outcome) => outcome === "again")) this.#unrecorded.splice(0);
      this.#changed();
    }
    this.#recording = undefined;
  }

  #recorded({ delivery: { id }, verdict }: AttemptRecord, outcome: DeliveryOutcome): void {
    if (outcome === "refused" && !this.#dueAnew.has(id)) return void this.#deferred.set(id, this.#ports.clock.now() + DEFERRED_FOR_MS);
    this.#settle(id, outcome, this.#wakings);
    // The last read saw the old state of the delivery and skipped it, although it was due.
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

  /** Pauses until `wake`, unless `wake` was called after the outcome was determined. */
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
