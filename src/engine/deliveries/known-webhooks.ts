import type { WebhookId } from "../../domain/ids.ts";
import type { Webhook } from "../../domain/webhook.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SubscriptionStore } from "../../ports/subscription-store.ts";

/** Changes by other hosts of a shared database take effect within this time. */
const KNOWN_FOR_MS = 1000;

interface Known {
  readonly readAt: number;
  readonly webhook: Promise<Webhook | undefined>;
}

/** Cache of the webhooks that are delivered to, so that one read serves many attempts. */
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

  forget(id: WebhookId): void {
    this.#known.delete(id);
  }
}
