import type { WebhookId } from "../../domain/ids.ts";
import type { Webhook } from "../../domain/webhook.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SubscriptionStore } from "../../ports/subscription-store.ts";

/** Other hosts of a shared database may change a webhook: what they did counts after so long. */
const KNOWN_FOR_MS = 1000;

interface Known {
  readonly readAt: number;
  readonly webhook: Promise<Webhook | undefined>;
}

/** Webhooks that something is being delivered to: they are read and opened once for many attempts. */
export class KnownWebhooks {
  readonly #clock: Clock;
  readonly #store: Pick<SubscriptionStore, "getWebhook">;
  readonly #known = new Map<WebhookId, Known>();

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

  /** It was changed here, or nothing is delivered to it any more. */
  forget(id: WebhookId): void {
    this.#known.delete(id);
  }
}
