import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Meter } from "../../ports/meter.ts";
import { type Delivery, type SendResult, judge } from "../../domain/delivery.ts";
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
import { Lane, type DeliveryOutcome } from "./lane.ts";

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
    const lane = new Lane(this.#ports, id, {
      attempt: (delivery) => this.#attempt(delivery),
      record: (attempts) => this.#record(id, attempts),
      concurrency: () => this.#deployed.concurrencyOf(id),
    });
    this.#lanes.set(id, lane);
    void lane.run().finally(() => {
      if (this.#lanes.get(id) === lane) this.#lanes.delete(id);
      if (isWebhookId(id)) this.#webhooks.forget(id);
      // What came while the lane was closing.
      if (lane.isWanted) this.wake([id]);
    });
  }

  /** Makes one attempt. Resolves when the listener has answered. */
  async #attempt(delivery: Delivery): Promise<AttemptRecord | DeliveryOutcome> {
    const { clock, meter } = this.#ports;
    const { listenerId } = delivery;
    let webhook: Webhook | undefined;
    if (isWebhookId(listenerId)) {
      webhook = await this.#webhooks.get(listenerId);
      // Deleted or deactivated since it was read.
      if (webhook?.active !== true) return this.#missPending(listenerId);
    }
    const at = clock.now();
    const result = webhook === undefined ? await this.#giveToDeployed(delivery) : await this.#sendTo(webhook, delivery);
    if (result === "gone") return this.#missPending(listenerId);
    // Nothing was tried: it stays due. What was emitted while the listener was active was promised to it.
    if (result === "inactive") return "held";
    if (result === "busy" || this.#over.signal.aborted) return "again";
    const answeredAt = clock.now();
    const verdict = judge(result, { attempt: delivery.attemptCount + 1, now: answeredAt, random: clock.random() });
    meter.attempted({ verdict: verdict.kind, durationMs: answeredAt - at });
    return { delivery, attempt: { at, durationMs: answeredAt - at, result }, verdict };
  }

  async #missPending(listenerId: ListenerId): Promise<DeliveryOutcome> {
    try {
      await this.#ports.store.missPending(listenerId);
      return "settled";
    } catch (error) {
      this.#ports.log.error("what a listener misses could not be marked, and stays due", { listener: listenerId, reason: messageOf(error) });
      return "again";
    }
  }

  async #record(listener: ListenerId, attempts: readonly AttemptRecord[]): Promise<readonly DeliveryOutcome[]> {
    const failures = await this.#failuresOf(attempts);
    const failed = failures.filter((failure) => failure !== undefined);
    if (failed.length > 0) {
      const [first] = failed;
      this.#ports.log.error("attempts to deliver could not be recorded, and will be made again", { listener, count: failed.length, reason: messageOf(first) });
    }
    if (attempts.some(({ verdict }) => verdict.kind !== "delivered")) this.#mayBeInactive(listener);
    // When all are refused it is no fault of theirs.
    const isOfAll = failures.length > 1 && failed.length === failures.length;
    return failures.map((failure) => (failure === undefined ? "settled" : !isOfAll && mayBeOfOne(failure) ? "refused" : "again"));
  }

  /** Why each was not recorded; `undefined`: it was. One that cannot be recorded holds up no other. */
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

/** False: as from a disk that is full, each of them would fail so. */
function mayBeOfOne(error: unknown): boolean {
  const code = error instanceof PdError ? error.code : "PD_FAILED";
  return code !== "PD_NOT_STORED" && code !== "PD_IN_DOUBT" && code !== "PD_DATABASE_DAMAGED";
}
