import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Meter } from "../../ports/meter.ts";
import { type Delivery, type SendResult, judge } from "../../domain/delivery/delivery.ts";
import { PdError, isOfDatabase, messageOf } from "../../domain/errors.ts";
import { type DeployedId, isWebhookId, type ListenerId, type WebhookId } from "../../domain/ids.ts";
import { parseJson } from "../../domain/text/json.ts";
import type { EventTrigger } from "../../domain/run/trigger.ts";
import { signingSecrets, type Webhook } from "../../domain/delivery/webhook.ts";
import type { AttemptRecord, DeliveryStore } from "../../ports/stores/delivery-store.ts";
import type { Sender } from "../../ports/sender.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import { untilKnown } from "../runs/commits/in-doubt.ts";
import { Lane, type DeliveryOutcome } from "./lane.ts";

export interface DelivererPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly store: DeliveryStore & Pick<SubscriptionStore, "getWebhook">;
  readonly sender: Sender;
}

export interface DeployedListener {
  /** Resolves when the run is stored, which also settles the delivery. */
  receive(id: DeployedId, trigger: EventTrigger): Promise<unknown>;
  concurrencyOf(id: ListenerId): number;
}

/** A slow or failing listener must not delay others. */
export class Deliverer {
  readonly #ports: DelivererPorts;
  readonly #deployed: DeployedListener;
  readonly #lanes = new Map<ListenerId, Lane>();
  /** `updatedAt` when the deactivation was logged, so that parallel attempts do not log it again. */
  readonly #toldInactive = new Map<WebhookId, number>();
  readonly #webhooks: WebhookCache;
  readonly #over = new AbortController();
  #isStopping = false;

  constructor(ports: DelivererPorts, deployed: DeployedListener) {
    this.#ports = ports;
    this.#deployed = deployed;
    this.#webhooks = new WebhookCache(ports);
  }

  async start(): Promise<void> {
    this.wake(await this.#ports.store.listBusyListeners());
  }

  wake(listeners: readonly ListenerId[]): void {
    if (this.#isStopping) return;
    for (const id of listeners) {
      const lane = this.#lanes.get(id);
      if (lane === undefined) this.#open(id);
      else lane.wake();
    }
  }

  retried(id: ListenerId): void {
    this.#lanes.get(id)?.putBack();
    this.wake([id]);
  }

  webhookChanged(id: WebhookId): void {
    this.#webhooks.forget(id);
  }

  /** Attempts in flight are cut off after `graceMs`. */
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
    const lane = new Lane(this.#ports, id, {
      attempt: (delivery) => this.#attempt(delivery),
      record: (attempts) => this.#record(id, attempts),
      concurrency: () => this.#deployed.concurrencyOf(id),
    });
    this.#lanes.set(id, lane);
    void lane.run().finally(() => {
      if (this.#lanes.get(id) === lane) this.#lanes.delete(id);
      if (isWebhookId(id)) this.#webhooks.forget(id);
      // Deliveries that became due while the lane was closing.
      if (lane.isWanted) this.wake([id]);
    });
  }

  async #attempt(delivery: Delivery): Promise<AttemptRecord | DeliveryOutcome> {
    const { clock, meter } = this.#ports;
    const { listenerId } = delivery;
    let webhook: Webhook | undefined;
    if (isWebhookId(listenerId)) {
      webhook = await this.#webhooks.get(listenerId);
      // Deleted or deactivated after the delivery was read.
      if (webhook?.active !== true) return this.#missPending(listenerId);
    }
    const at = clock.now();
    const result = webhook === undefined ? await this.#giveToDeployed(delivery) : await this.#sendTo(webhook, delivery);
    if (result === "gone") return this.#missPending(listenerId);
    // No attempt was made, so it stays due: it was emitted while the listener was active.
    if (result === "inactive") return "held";
    if (result === "busy" || this.#over.signal.aborted) return "again";
    const answeredAt = clock.now();
    const verdict = judge(result, { attempt: delivery.attemptCount + 1, now: answeredAt, random: clock.random() });
    meter.attempted({ scope: delivery.emitterId, verdict: verdict.kind, durationMs: answeredAt - at });
    return { delivery, attempt: { at, durationMs: answeredAt - at, result }, verdict };
  }

  async #missPending(listenerId: ListenerId): Promise<DeliveryOutcome> {
    try {
      await this.#ports.store.missPending(listenerId);
      return "settled";
    } catch (error) {
      this.#ports.log.error("missed deliveries could not be marked and stay due", { listener: listenerId, reason: messageOf(error) });
      return "again";
    }
  }

  async #record(listener: ListenerId, attempts: readonly AttemptRecord[]): Promise<readonly DeliveryOutcome[]> {
    const failures = await this.#failuresOf(attempts);
    const failed = failures.filter((failure) => failure !== undefined);
    if (failed.length > 0) {
      const [first] = failed;
      this.#ports.log.error("delivery attempts could not be recorded and will be repeated", { listener, count: failed.length, reason: messageOf(first) });
    }
    if (attempts.some(({ verdict }) => verdict.kind !== "delivered")) this.#mayBeInactive(listener);
    // All failed, so the cause is not a single attempt.
    const isOfAll = failures.length > 1 && failed.length === failures.length;
    return failures.map((failure) => (failure === undefined ? "settled" : !isOfAll && mayBeOfOne(failure) ? "refused" : "again"));
  }

  /** Undefined for each recorded attempt. One that cannot be recorded must not block the others. */
  async #failuresOf(attempts: readonly AttemptRecord[]): Promise<readonly unknown[]> {
    const failure = await this.#failureOf(attempts);
    if (failure === undefined || attempts.length === 1 || !mayBeOfOne(failure)) return attempts.map(() => failure);
    return Promise.all(attempts.map((attempt) => this.#failureOf([attempt])));
  }

  async #failureOf(attempts: readonly AttemptRecord[]): Promise<unknown> {
    try {
      await untilKnown(this.#ports, () => this.#ports.store.recordAttempts(attempts));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** A failed attempt may have deactivated the webhook. */
  #mayBeInactive(listenerId: ListenerId): void {
    if (!isWebhookId(listenerId)) return;
    this.#webhooks.forget(listenerId);
    void this.#tellDeactivated(listenerId);
  }

  async #tellDeactivated(id: WebhookId): Promise<void> {
    // Its next delivery reports it.
    const webhook = await this.#webhooks.get(id).catch(() => undefined);
    if (webhook?.active !== false || webhook.inactiveReason === undefined || this.#toldInactive.get(id) === webhook.updatedAt) return;
    this.#toldInactive.set(id, webhook.updatedAt);
    this.#ports.log.error("a webhook was deactivated: missed deliveries are stored and can be retried", { webhook: id, reason: webhook.inactiveReason });
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
      // A damaged row may be repaired.
      if (code === "PD_SOURCE_INACTIVE" || code === "PD_DATABASE_DAMAGED") return "inactive";
      if (code === "PD_TOO_BUSY" || code === "PD_STOPPING" || isOfDatabase(error)) return "busy";
      return { kind: "unreachable", reason: messageOf(error) };
    }
  }
}

/** False when every attempt would fail, such as on a full disk. */
function mayBeOfOne(error: unknown): boolean {
  return !isOfDatabase(error) && !(error instanceof PdError && error.code === "PD_DATABASE_DAMAGED");
}

/** Changes by other hosts of a shared database take effect within this time. */
const KNOWN_FOR_MS = 1000;

interface CachedWebhook {
  readonly readAt: number;
  readonly webhook: Promise<Webhook | undefined>;
}

/** One read serves many attempts. */
class WebhookCache {
  readonly #clock: Clock;
  readonly #store: Pick<SubscriptionStore, "getWebhook">;
  readonly #known = new Map<WebhookId, CachedWebhook>();

  constructor({ clock, store }: { readonly clock: Clock; readonly store: Pick<SubscriptionStore, "getWebhook"> }) {
    this.#clock = clock;
    this.#store = store;
  }

  get(id: WebhookId): Promise<Webhook | undefined> {
    const now = this.#clock.now();
    const known = this.#known.get(id);
    if (known !== undefined && Math.abs(now - known.readAt) < KNOWN_FOR_MS) return known.webhook;
    const read = { readAt: now, webhook: this.#store.getWebhook(id) };
    this.#known.set(id, read);
    read.webhook.catch(() => {
      if (this.#known.get(id) === read) this.#known.delete(id);
    });
    return read.webhook;
  }

  forget(id: WebhookId): void {
    this.#known.delete(id);
  }
}
