/** Saved component. */
export type SavedId = `sc_${string}`;
/** Deployed component. */
export type DeployedId = `dc_${string}`;
/** Invocation: one call of `run` or of a hook. */
export type InvocationId = `inv_${string}`;

/** Webhook. */
export type WebhookId = `wh_${string}`;
/** Connected account ("auth provision"). */
export type AccountId = `apn_${string}`;
export type SubscriptionId = `sub_${string}`;
/** One message for one listener. */
export type DeliveryId = `dlv_${number}`;
/** Whoever can be subscribed: a webhook, or a source whose `run` gets the payload. */
export type ListenerId = WebhookId | DeployedId;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function isSavedId(text: unknown): text is SavedId {
  return typeof text === "string" && /^sc_[0-9A-Za-z]+$/.test(text);
}

export function isInvocationId(text: unknown): text is InvocationId {
  return typeof text === "string" && /^inv_[0-9A-Za-z]+$/.test(text);
}

export function isWebhookId(text: unknown): text is WebhookId {
  return typeof text === "string" && /^wh_[0-9A-Za-z]+$/.test(text);
}

export function isDeployedId(text: unknown): text is DeployedId {
  return typeof text === "string" && /^dc_[0-9A-Za-z]+$/.test(text);
}

/** The number of a delivery; `undefined` when it is no delivery id. */
export function numberOfDelivery(id: string): number | undefined {
  const match = /^dlv_(\d{1,15})$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** Letters and digits of the given random bytes, one each. */
export function randomText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += ALPHABET[byte % ALPHABET.length] ?? "";
  return text;
}

/**
 * An invocation's id: the time, then random letters. Ids made later sort later, so that an index of them grows at
 * its end.
 */
export function invocationId(now: number, random: string): InvocationId {
  let time = "";
  for (let rest = now; time.length < 8; rest = Math.floor(rest / ALPHABET.length)) time = (ALPHABET[rest % ALPHABET.length] ?? "") + time;
  return `inv_${time}${random}`;
}

/** The id of an event: `<epoch ms when it was stored>-<its number within the source>`. */
export function eventId(storedAt: number, seq: number): string {
  return `${storedAt}-${seq}`;
}

/** The number within its source of the event with this id; `undefined` when it is no event id. */
export function seqOfEventId(id: string): number | undefined {
  const match = /^\d+-(\d+)$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
