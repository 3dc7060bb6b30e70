import type { Sender } from "../../ports/sender.ts";
import type { WebhookSenderSettings } from "./webhook-sender.ts";

/** Loaded late: many servers send no messages. */
export function lateSender(settings: WebhookSenderSettings): Sender {
  let loaded: Sender | undefined;
  const load = async (): Promise<Sender> => (loaded ??= (await import("./webhook-sender.ts")).webhookSender(settings));
  return { send: (message, signal) => (loaded === undefined ? load().then((sender) => sender.send(message, signal)) : loaded.send(message, signal)) };
}
