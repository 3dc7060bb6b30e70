import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Meter } from "../../ports/meter.ts";
import { type Attempt, type Delivery, type SendResult, judge } from "../../domain/delivery.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type DeployedId, type ListenerId, type WebhookId, isWebhookId } from "../../domain/ids.ts";
import { parseJson } from "../../domain/json.ts";
import type { EventTrigger } from "../../domain/trigger.ts";
import { type Webhook, signingSecrets } from "../../domain/webhook.ts";
import type { AttemptRecord, DeliveryStore } from "../../ports/delivery-store.ts";
import type { Sender } from "../../ports/sender.ts";
import type { SubscriptionStore } from "../../ports/subscription-store.ts";
import { untilKnown } from "../runs/in-doubt.ts";
import { KnownWebhooks } from "./known-webhooks.ts";

/** The part of the engine's ports that deliveries need. */
export interface DelivererPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly store: DeliveryStore & Pick<SubscriptionStore, "getWebhook">;
  readonly sender: Sender;
}

/** Runs a source or a workflow that listens. */
export interface DeployedListener {
  /** Resolves when its run is stored, which settles the delivery as well. */
  receive(id: DeployedId, trigger: EventTrigger): Promise<unknown>;
  /** Attempts that go on at the same time. */
  concurrencyOf(id: ListenerId): number;
}

/** Read ahead of what can be sent at once. */
const BATCH = 200;
/** What could not be settled, as on a full disk, is tried again after pauses that grow. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Until what is due is read again, when it could not be. */
const READ_AGAIN_MS = 10_000;

/**
 * Delivers what commits have written for listeners. Each listener has a lane of its own, so that a slow or dead one
 * delays no other.
 */
export class Deliverer {
  readonly #ports: DelivererPorts;
  readonly #deployed: DeployedListener;
  readonly #lanes = new Map<ListenerId, Lane>();
  /** Of each that was deactivated, when: others that were on their way to it find the same. */
  readonly #toldInactive = new Map<WebhookId, number>();
  readonly #webhooks: KnownWebhooks;
  readonly #over = new AbortController();
  #isStopping = false;

  constructor(ports: DelivererPorts, deployed: DeployedListener) {
    this.#ports = ports;
    this.#deployed = deployed;
    this.#webhooks = new KnownWebhooks(ports);
  }

  /** Takes up what is pending. */
  async start(): Promise<void> {
    this.wake(await this.#ports.store.listBusyListeners());
  }

  /** Something is due for these. */
  wake(listeners: readonly ListenerId[]): void {
    if (this.#isStopping) return;
    for (const id of listeners) {
      const lane = this.#lanes.get(id);
      if (lane === undefined) this.#open(id);
      else lane.wake();
    }
  }

  /** Some of this listener's deliveries were made due again. */
  retried(id: ListenerId): void {
    this.#lanes.get(id)?.putBack();
    this.wake([id]);
  }

  /** It was changed or deleted: the next attempt goes by what it is now. */
  webhookChanged(id: WebhookId): void {
    this.#webhooks.forget(id);
  }

  /** Begins nothing new; what is on its way may finish. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const { clock } = this.#ports;
    const grace = new AbortController();
    const ended = Promise.all([...this.#lanes.values()].map((lane) => lane.stop())).then(() => grace.abort());
    await clock.sleepUntil(clock.now() + graceMs, grace.signal);
    this.#over.abort();
    await ended;
  }

  #open(id: ListenerId): void {
    const lane = new Lane(this.#ports, id, { attempt: (delivery) => this.#attempt(delivery), concurrency: () => this.#deployed.concurrencyOf(id) });
    this.#lanes.set(id, lane);
    void lane.run().finally(() => {
      if (this.#lanes.get(id) === lane) this.#lanes.delete(id);
      if (isWebhookId(id)) this.#webhooks.forget(id);
      // What came while the lane was closing.
      if (lane.isWanted) this.wake([id]);
    });
  }

  /** Makes one attempt. Resolves when the listener has answered, to what records it. */
  async #attempt(delivery: Delivery): Promise<Recording> {
    const { clock, meter, store } = this.#ports;
    const { listenerId } = delivery;
    let webhook: Webhook | undefined;
    if (isWebhookId(listenerId)) {
      webhook = await this.#webhooks.get(listenerId);
      // Deleted or deactivated since it was read.
      if (webhook?.active !== true) return () => this.#settled(store.missPending(listenerId));
    }
    const at = clock.now();
    const result = webhook === undefined ? await this.#giveToDeployed(delivery) : await this.#sendTo(webhook, delivery);
    if (result === "gone") return () => this.#settled(store.missPending(listenerId));
    // Nothing was tried: it stays due. What was emitted while the listener was active was promised to it.
    if (result === "inactive") return async () => "held";
    if (result === "busy" || this.#over.signal.aborted) return async () => "again";
    const attempt: Attempt = { at, durationMs: clock.now() - at, result };
    const verdict = judge(result, { attempt: delivery.attemptCount + 1, now: clock.now(), random: clock.random() });
    meter.attempted({ verdict: verdict.kind, durationMs: attempt.durationMs });
    return () => this.#recordAttempt({ delivery, attempt, verdict });
  }

  #recordAttempt(record: AttemptRecord): Promise<Recorded> {
    const recorded = this.#settled(untilKnown(this.#ports, () => this.#ports.store.recordAttempt(record)));
    return record.verdict.kind === "delivered" ? recorded : recorded.finally(() => this.#mayBeInactive(record.delivery.listenerId));
  }

  /** An attempt that has failed may have deactivated it. */
  #mayBeInactive(listenerId: ListenerId): void {
    if (!isWebhookId(listenerId)) return;
    this.#webhooks.forget(listenerId);
    void this.#tellDeactivated(listenerId);
  }

  /** Nobody looks at it while it works: its owner finds it in the server's log, or is told by whoever watches that. */
  async #tellDeactivated(id: WebhookId): Promise<void> {
    // One that cannot be read is told of by the next delivery to it.
    const webhook = await this.#webhooks.get(id).catch(() => undefined);
    if (webhook?.active !== false || webhook.inactiveReason === undefined || this.#toldInactive.get(id) === webhook.updatedAt) return;
    this.#toldInactive.set(id, webhook.updatedAt);
    this.#ports.log.error("a webhook was deactivated: what it misses is kept, and can be delivered later", { webhook: id, reason: webhook.inactiveReason });
  }

  /** An attempt that could not be stored is made again. */
  async #settled(write: Promise<unknown>): Promise<Recorded> {
    try {
      await write;
      return "settled";
    } catch (error) {
      this.#ports.log.error("an attempt to deliver could not be recorded, and will be made again", { reason: messageOf(error) });
      return "again";
    }
  }

  #sendTo(webhook: Webhook, { messageId, payload, emitterId, channel }: Delivery): Promise<SendResult> {
    const { clock, sender } = this.#ports;
    const secrets = signingSecrets(webhook, clock.now());
    return sender.send({ url: webhook.url, id: messageId, payload, secrets, emitterId, eventName: channel }, this.#over.signal);
  }

  async #giveToDeployed({ listenerId, messageId, payload, emitterId, channel }: Delivery): Promise<SendResult | "gone" | "inactive" | "busy"> {
    if (isWebhookId(listenerId)) return "gone";
    try {
      await this.#deployed.receive(listenerId, { kind: "event", emitterId, channel, messageId, event: parseJson(payload) ?? null });
      return { kind: "answered", status: 200, answer: "" };
    } catch (error) {
      const code = error instanceof PdError ? error.code : "PD_FAILED";
      if (code === "PD_SOURCE_NOT_FOUND") return "gone";
      // What cannot be read may be put right: it waits as for one that is inactive.
      if (code === "PD_SOURCE_INACTIVE" || code === "PD_DATABASE_DAMAGED") return "inactive";
      if (code === "PD_TOO_BUSY" || code === "PD_STOPPING" || code === "PD_NOT_STORED") return "busy";
      return { kind: "unreachable", reason: messageOf(error) };
    }
  }
}

/** `again`: it stays due, after a pause; `held`: it stays due until the listener is active again. */
type Recorded = "settled" | "again" | "held";
type Recording = () => Promise<Recorded>;

function isSame(read: Delivery, taken: Delivery): boolean {
  return read.attemptCount === taken.attemptCount && read.nextAt === taken.nextAt;
}

interface LaneWork {
  attempt(delivery: Delivery): Promise<Recording>;
  concurrency(): number;
}

/** What is on its way to one listener. */
class Lane {
  readonly #ports: DelivererPorts;
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

  constructor(ports: DelivererPorts, listenerId: ListenerId, work: LaneWork) {
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
