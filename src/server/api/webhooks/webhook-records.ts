import type { AttemptAnswer, DeliveryRecord } from "../../../api/deliveries.ts";
import type { SubscriptionRecord } from "../../../api/subscriptions.ts";
import type { WebhookRecord } from "../../../api/webhooks.ts";
import type { Attempt, Delivery, DeliveryState } from "../../../domain/delivery/delivery.ts";
import { isWebhookId } from "../../../domain/ids.ts";
import { parseJson } from "../../../domain/text/json.ts";
import type { Subscription } from "../../../domain/delivery/subscription.ts";
import type { Webhook } from "../../../domain/delivery/webhook.ts";
import type { Identity } from "../../../ports/stores/subscription-store.ts";
import { seconds } from "../records.ts";

export interface WebhookContext {
  readonly owner: Identity;
  readonly counts: Readonly<Record<DeliveryState, number>>;
}

export function webhookRecord(webhook: Webhook, { owner, counts }: WebhookContext): WebhookRecord {
  const { id, url, name = null, description = null, active, inactiveReason, failingSince, createdAt, updatedAt } = webhook;
  return {
    id,
    user_id: owner.userId,
    name,
    description,
    url,
    active,
    inactive_reason: inactiveReason,
    failing_since_ms: failingSince,
    deliveries: { ...counts },
    created_at: seconds(createdAt),
    updated_at: seconds(updatedAt),
  };
}

export function subscriptionRecord({ id, emitterId, listenerId, channel }: Subscription): SubscriptionRecord {
  return { id, emitter_id: emitterId, listener_id: listenerId, event_name: channel };
}

export function deliveryRecord(delivery: Delivery, nameOf: (id: string) => string | undefined, attempts?: readonly Attempt[]): DeliveryRecord {
  const { id, listenerId, messageId, emitterId, channel, payload, state, attemptCount, nextAt, createdAt } = delivery;
  return {
    id,
    webhook_id: isWebhookId(listenerId) ? listenerId : undefined,
    listener_id: listenerId,
    listener_name: nameOf(listenerId),
    message_id: messageId,
    emitter_id: emitterId,
    emitter_name: nameOf(emitterId),
    event_name: channel,
    event: parseJson(payload) ?? null,
    state,
    attempt_count: attemptCount,
    next_attempt_at_ms: nextAt,
    created_at_ms: createdAt,
    attempts: attempts?.map(attemptRecord),
  };
}

export function attemptRecord({ at, durationMs, result }: Attempt): AttemptAnswer {
  const answered = result.kind === "answered" ? { status: result.status, answer: result.answer } : { error: result.reason };
  return { at_ms: at, duration_ms: durationMs, ...answered };
}
