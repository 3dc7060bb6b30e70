import type { SendResult } from "../domain/delivery.ts";

/** A message as it leaves for a webhook. */
export interface OutgoingMessage {
  readonly url: string;
  /** Named in `webhook-id`. */
  readonly id: string;
  /** The body: JSON text. */
  readonly payload: string;
  /** Each signs it, the first one first. */
  readonly secrets: readonly string[];
  /** The source or workflow that has emitted it; empty for a test. */
  readonly emitterId: string;
  /** The name that it was emitted under; empty for the default channel. */
  readonly eventName: string;
}

/** Sends messages to receivers. */
export interface Sender {
  /** Never rejects: what goes wrong is the result. Redirects are not followed, and an answer has 15 s to come. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
}
