import { type Attempt, type Delivery, type SendResult, healthAfter, judge } from "../domain/delivery.ts";
import { messageOf } from "../domain/errors.ts";
import { type ListenerId, isWebhookId } from "../domain/ids.ts";
import { parseJson } from "../domain/json.ts";
import type { EventTrigger } from "../domain/trigger.ts";
import { type Webhook, signingSecrets } from "../domain/webhook.ts";
import type { AttemptRecord, DeliveryStore } from "../ports/delivery-store.ts";
import type { Sender } from "../ports/sender.ts";
import type { SubscriptionStore } from "../ports/subscription-store.ts";
import type { EnginePorts } from "./ports.ts";

/** The part of the engine's ports that deliveries need. */
export interface DelivererPorts extends Pick<EnginePorts, "clock" | "log" | "meter"> {
  readonly store: DeliveryStore & Pick<SubscriptionStore, "getWebhook">;
  readonly sender: Sender;
  /** Attempts that go on for one listener. */
  readonly concurrency: number;
}

/** Runs a source that listens; resolves when its run is stored, which settles the delivery as well. */
export interface SourceListener {
  receive(sourceId: string, trigger: EventTrigger): Promise<unknown>;
}

/** Read ahead of what can be sent at once. */
const BATCH = 200;
/** An attempt that could not be recorded is made again after this. */
const RECORD_RETRY_MS = 1000;

/**
 * Delivers what commits have written for listeners. Each listener has a lane of its own, so that a slow or dead one
 * delays no other.
 */
export class Deliverer {
  readonly #ports: DelivererPorts;
  readonly #sources: SourceListener;
  readonly #lanes = new Map<ListenerId, Lane>();
  readonly #over = new AbortController();
  #isStopping = false;

  constructor(ports: DelivererPorts, sources: SourceListener) {
    this.#ports = ports;
    this.#sources = sources;
  }

  /** Takes up what is pending. */
  start(): void {
    this.wake(this.#ports.store.listBusyListeners());
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
    const lane = new Lane(this.#ports, id, (delivery) => this.#attempt(delivery));
    this.#lanes.set(id, lane);
    void lane.run().finally(() => {
      if (this.#lanes.get(id) === lane) this.#lanes.delete(id);
      // What came while the lane was closing.
      if (lane.isWanted) this.wake([id]);
    });
  }

  /** Makes one attempt. Resolves when the listener has answered, to what records it. */
  async #attempt(delivery: Delivery): Promise<() => Promise<boolean>> {
    const { clock, meter, store } = this.#ports;
    const { listenerId } = delivery;
    const webhook = isWebhookId(listenerId) ? store.getWebhook(listenerId) : undefined;
    // Deleted or deactivated since it was read: the store has settled it.
    if (isWebhookId(listenerId) && webhook?.active !== true) return async () => true;
    const at = clock.now();
    const result = webhook === undefined ? await this.#giveToSource(delivery) : await this.#sendTo(webhook, delivery);
    if (this.#over.signal.aborted) return async () => true;
    const attempt: Attempt = { at, durationMs: clock.now() - at, result };
    const verdict = judge(result, { attempt: delivery.attemptCount + 1, now: clock.now(), random: clock.random() });
    meter.attempted({ verdict: verdict.kind, durationMs: attempt.durationMs });
    const health = webhook === undefined ? undefined : healthAfter(webhook, { verdict, attempt });
    return () => this.#record({ delivery, attempt, verdict, ...(health === undefined ? {} : { health }) });
  }

  /** False when it could not be stored: then the attempt is made again. */
  async #record(record: AttemptRecord): Promise<boolean> {
    const { clock, store, log } = this.#ports;
    try {
      await store.recordAttempt(record);
      return true;
    } catch (error) {
      log.error("an attempt to deliver could not be recorded, and will be made again", { delivery: record.delivery.id, reason: messageOf(error) });
      await clock.sleepUntil(clock.now() + RECORD_RETRY_MS, this.#over.signal);
      return false;
    }
  }

  #sendTo(webhook: Webhook, { messageId, payload, emitterId, channel }: Delivery): Promise<SendResult> {
    const { clock, sender } = this.#ports;
    const headers = { "x-pd-emitter-id": emitterId, "x-pd-event-name": channel };
    return sender.send({ url: webhook.url, id: messageId, payload, secrets: signingSecrets(webhook, clock.now()), headers }, this.#over.signal);
  }

  async #giveToSource({ listenerId, messageId, payload, emitterId, channel }: Delivery): Promise<SendResult> {
    try {
      await this.#sources.receive(listenerId, { kind: "event", emitterId, channel, messageId, event: parseJson(payload) ?? null });
      return { kind: "answered", status: 200, answer: "" };
    } catch (error) {
      return { kind: "unreachable", reason: messageOf(error) };
    }
  }
}

/** What is on its way to one listener. */
class Lane {
  readonly #ports: DelivererPorts;
  readonly #listenerId: ListenerId;
  readonly #attempt: (delivery: Delivery) => Promise<() => Promise<boolean>>;
  /** Deliveries that were read, and are not recorded yet. */
  readonly #taken = new Set<string>();
  readonly #onTheirWay = new Set<Promise<void>>();
  #next: Delivery[] = [];
  #readAt = 0;
  #sleep = new AbortController();
  #isStopping = false;
  /** Something may be due that was not read yet. */
  isWanted = true;

  constructor(ports: DelivererPorts, listenerId: ListenerId, attempt: (delivery: Delivery) => Promise<() => Promise<boolean>>) {
    this.#ports = ports;
    this.#listenerId = listenerId;
    this.#attempt = attempt;
  }

  wake(): void {
    this.isWanted = true;
    this.#sleep.abort();
  }

  /** Resolves when what was on its way has been answered. */
  stop(): Promise<unknown> {
    this.#isStopping = true;
    this.isWanted = false;
    this.#sleep.abort();
    return Promise.all(this.#onTheirWay);
  }

  /** Ends when nothing is pending any more. */
  async run(): Promise<void> {
    const { clock, concurrency, store } = this.#ports;
    while (!this.#isStopping) {
      if (this.#next.length === 0 && this.isWanted) this.#readDue();
      while (this.#onTheirWay.size < concurrency && this.#next.length > 0) this.#begin(this.#next.shift());
      if (this.#onTheirWay.size >= concurrency || (this.#taken.size > 0 && !this.isWanted)) await this.#untilChanged();
      else if (!this.isWanted) {
        const at = store.nextDueAt(this.#listenerId, this.#readAt);
        if (at === undefined) return;
        this.#sleep = new AbortController();
        await clock.sleepUntil(at, this.#sleep.signal);
        this.isWanted = true;
      }
    }
  }

  /** An answer came, or something is due that may take a free place. */
  async #untilChanged(): Promise<void> {
    this.#sleep = new AbortController();
    const { signal } = this.#sleep;
    const woken = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([woken, ...this.#onTheirWay]);
  }

  #readDue(): void {
    const { clock, store } = this.#ports;
    this.#readAt = clock.now();
    const limit = BATCH + this.#taken.size;
    const due = store.listDue(this.#listenerId, this.#readAt, limit);
    this.isWanted = due.length === limit;
    this.#next = due.filter(({ id }) => !this.#taken.has(id));
    for (const { id } of this.#next) this.#taken.add(id);
  }

  #begin(delivery: Delivery | undefined): void {
    if (delivery === undefined) return;
    const answered = this.#attempt(delivery).then((record) => {
      this.#onTheirWay.delete(answered);
      void this.#record(delivery, record);
    });
    this.#onTheirWay.add(answered);
  }

  /** A place is free already while an attempt is recorded; many share a commit. */
  async #record({ id }: Delivery, record: () => Promise<boolean>): Promise<void> {
    const isRecorded = await record();
    this.#taken.delete(id);
    if (!isRecorded) this.wake();
    else if (this.#taken.size === 0) this.#sleep.abort();
  }
}
