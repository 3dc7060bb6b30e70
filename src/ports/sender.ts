import type { SendResult } from "../domain/delivery/delivery.ts";

export interface OutgoingMessage {
  readonly url: string;
  /** Sent as `webhook-id`. */
  readonly id: string;
  /** JSON text. */
  readonly payload: string;
  /** All sign the message, in this order. */
  readonly secrets: readonly string[];
  /** Empty for a test. */
  readonly emitterId: string;
  /** Empty for the default channel. */
  readonly eventName: string;
}

export interface Sender {
  /** Never rejects. Does not follow redirects. The timeout is 15 s. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
}
