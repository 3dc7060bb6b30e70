export type SavedId = `sc_${string}`;
export type WorkflowId = `p_${string}`;
/** HTTP endpoint or schedule of a workflow. */
export type TriggerId = `hi_${string}` | `ti_${string}`;
export type DeployedId = `dc_${string}` | TriggerId | WorkflowId;
export type RunId = `run_${string}`;
/** A call of `run` or of a hook. */
export type InvocationId = `inv_${string}`;

export type WebhookId = `wh_${string}`;
/** Connected account ("auth provision"). */
export type AccountId = `apn_${string}`;
export type AlertId = `al_${string}`;
export type SubscriptionId = `sub_${string}`;
export type DeliveryId = `dlv_${number}`;
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

export function isAlertId(text: unknown): text is AlertId {
  return typeof text === "string" && /^al_[0-9A-Za-z]+$/.test(text);
}

export function isDeployedId(text: unknown): text is DeployedId {
  return typeof text === "string" && /^(dc|hi|ti|p)_[0-9A-Za-z]+$/.test(text);
}

export function isWorkflowId(text: unknown): text is WorkflowId {
  return typeof text === "string" && /^p_[0-9A-Za-z]+$/.test(text);
}

export function isTriggerId(text: unknown): text is TriggerId {
  return typeof text === "string" && /^[ht]i_[0-9A-Za-z]+$/.test(text);
}

export function isRunId(text: unknown): text is RunId {
  return typeof text === "string" && /^run_[0-9A-Za-z]+$/.test(text);
}

export function numberOfDelivery(id: string): number | undefined {
  const match = /^dlv_(\d{1,15})$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

export function randomText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += ALPHABET[byte % ALPHABET.length] ?? "";
  return text;
}

/** Starts with the time, so that an index grows at its end. */
export function invocationId(now: number, random: string): InvocationId {
  return `inv_${sortableTime(now)}${random}`;
}

export function runId(now: number, random: string): RunId {
  return `run_${sortableTime(now)}${random}`;
}

function sortableTime(now: number): string {
  let time = "";
  for (let rest = now; time.length < 8; rest = Math.floor(rest / ALPHABET.length)) time = (ALPHABET[rest % ALPHABET.length] ?? "") + time;
  return time;
}

export function eventId(storedAt: number, seq: number): string {
  return `${storedAt}-${seq}`;
}

export function seqOfEventId(id: string): number | undefined {
  const match = /^\d+-(\d+)$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
