import { MOST_OF_ADDRESS, parsedAddress } from "./addresses.ts";
import { PdError } from "./errors.ts";
import type { WebhookId } from "./ids.ts";

/** A secret that was replaced; what is sent is signed with it as well until then, epoch ms. */
export interface OldSecret {
  readonly secret: string;
  readonly until: number;
}

/** A caller's own address to which events are delivered (webhooks-and-subscriptions.md, Webhook). */
export interface Webhook {
  readonly id: WebhookId;
  readonly url: string;
  readonly name?: string;
  readonly description?: string;
  readonly active: boolean;
  /** `whsec_` and base64, as Standard Webhooks have it. */
  readonly secret: string;
  readonly oldSecrets: readonly OldSecret[];
  /** Since when every attempt has failed, epoch ms. */
  readonly failingSince?: number;
  /** Why the server has deactivated it. */
  readonly inactiveReason?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** How long a secret that was rotated is still signed with, so that receivers can change theirs. */
const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** http or https with a host; anything else throws PD_BAD_INPUT. */
export function checkWebhookUrl(url: string): string {
  const parsed = parsedAddress(url);
  const isUsable = parsed !== undefined && (parsed.protocol === "http:" || parsed.protocol === "https:") && parsed.hostname !== "";
  if (!isUsable)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot deliver to ${JSON.stringify(url.slice(0, 200))}: it wants an http or https address with a host, of at most ${MOST_OF_ADDRESS} characters`,
    );
  if (parsed.username !== "" || parsed.password !== "")
    throw new PdError("PD_BAD_INPUT", `Cannot deliver to ${JSON.stringify(parsed.origin)}: an address with a user name or password in it is not used`, {
      fix: "Check the signature at the receiver instead",
    });
  return parsed.href;
}

/** Secrets that sign what is sent at this time, the newest first. */
export function signingSecrets({ secret, oldSecrets }: Pick<Webhook, "secret" | "oldSecrets">, now: number): readonly string[] {
  return [secret, ...oldSecrets.filter(({ until }) => until > now).map((old) => old.secret)];
}

/** A new secret from 32 random letters. */
export function webhookSecret(random: string): string {
  return `whsec_${btoa(random)}`;
}

/** What is changed about a webhook; members that are absent stay. */
export interface WebhookChange {
  readonly url?: string;
  /** `null` takes it away. */
  readonly name?: string | null;
  readonly description?: string | null;
  readonly active?: boolean;
  /** Takes the place of the secret, which signs as well for a day. */
  readonly secret?: string;
}

/** The webhook after a change. One that is activated begins with a clean record. */
export function changedWebhook(before: Webhook, { url, name, description, active, secret }: WebhookChange, now: number): Webhook {
  const { name: oldName, description: oldDescription, failingSince, inactiveReason, ...rest } = before;
  const [title, text] = [name === undefined ? oldName : name, description === undefined ? oldDescription : description];
  const keepsHealth = active !== true || before.active;
  return {
    ...rest,
    ...(title ? { name: title } : {}),
    ...(text ? { description: text } : {}),
    ...(keepsHealth && failingSince !== undefined ? { failingSince } : {}),
    ...(keepsHealth && inactiveReason !== undefined ? { inactiveReason } : {}),
    url: url ?? before.url,
    active: active ?? before.active,
    ...(secret === undefined
      ? {}
      : { secret, oldSecrets: [{ secret: before.secret, until: now + ROTATION_OVERLAP_MS }, ...before.oldSecrets.filter(({ until }) => until > now)] }),
    updatedAt: now,
  };
}
