import type { DeliveryId, ListenerId } from "../ids.ts";
import type { Webhook } from "./webhook.ts";

/** `missed` means that the listener was inactive. `failed` means that no attempts are left. */
export type DeliveryState = "pending" | "delivered" | "failed" | "missed";

export interface Delivery {
  readonly id: DeliveryId;
  readonly listenerId: ListenerId;
  /** The same in all attempts, different for every message. */
  readonly messageId: string;
  readonly emitterId: string;
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  /** Epoch ms. Omitted unless pending. */
  readonly nextAt?: number;
  readonly createdAt: number;
}

export type SendResult =
  | { readonly kind: "answered"; readonly status: number; readonly answer: string; readonly retryAfterMs?: number }
  | { readonly kind: "unreachable"; readonly reason: string };

export interface Attempt {
  readonly at: number;
  readonly durationMs: number;
  readonly result: SendResult;
}

export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly at: number }
  | { readonly kind: "exhausted" }
  /** The receiver answered 410. */
  | { readonly kind: "gone" };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses before each attempt. */
const PAUSES = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;
/** Random, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
const LONGEST_RETRY_AFTER = 24 * HOUR;
const FAILING_FOR = 5 * 24 * HOUR;

export const MOST_ATTEMPTS = PAUSES.length;

/** `attempt` counts from 1. `random` is from 0 to 1. */
export function judge(result: SendResult, { attempt, now, random }: { attempt: number; now: number; random: number }): Verdict {
  if (result.kind === "answered" && result.status >= 200 && result.status < 300) return { kind: "delivered" };
  if (result.kind === "answered" && result.status === 410) return { kind: "gone" };
  const pause = PAUSES[attempt];
  if (pause === undefined) return { kind: "exhausted" };
  const planned = pause * (1 + JITTER * (2 * random - 1));
  const asked = result.kind === "answered" && (result.status === 429 || result.status === 503) ? (result.retryAfterMs ?? 0) : 0;
  return { kind: "retry", at: Math.round(now + Math.max(planned, Math.min(asked, LONGEST_RETRY_AFTER))) };
}

/** `failingSince` is null when the webhook works again. */
export interface HealthChange {
  readonly failingSince: number | null;
  readonly inactiveReason?: string;
}

/** Deactivates a webhook that is gone or has failed for five days. Undefined when nothing changes. */
export function healthAfter(
  { failingSince }: Pick<Webhook, "failingSince">,
  { verdict, at, result }: { verdict: Verdict["kind"] } & Pick<Attempt, "at" | "result">,
): HealthChange | undefined {
  if (verdict === "delivered") return failingSince === undefined ? undefined : { failingSince: null };
  const since = failingSince ?? at;
  if (verdict === "gone") return { failingSince: since, inactiveReason: "its receiver answered 410 Gone" };
  if (at - since >= FAILING_FOR)
    return { failingSince: since, inactiveReason: `every attempt has failed since ${new Date(since).toISOString()}: ${describeResult(result)}` };
  return failingSince === undefined ? { failingSince: since } : undefined;
}

export function describeResult(result: SendResult): string {
  return result.kind === "answered" ? `status ${result.status}` : result.reason;
}
