import { MOST_OF_ADDRESS, parsedAddress } from "../text/addresses.ts";
import { PdError } from "../errors.ts";
import type { WebhookId } from "../ids.ts";

/** Still signs until `until`, epoch ms. */
export interface OldSecret {
  readonly secret: string;
  readonly until: number;
}

export interface Webhook {
  readonly id: WebhookId;
  readonly url: string;
  readonly name?: string;
  readonly description?: string;
  readonly active: boolean;
  /** `whsec_` and base64, as in Standard Webhooks. */
  readonly secret: string;
  readonly oldSecrets: readonly OldSecret[];
  /** Epoch ms. Every attempt since then has failed. */
  readonly failingSince?: number;
  readonly inactiveReason?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Gives receivers time to switch to the new secret. */
const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** Throws PD_BAD_INPUT unless the URL is http or https, with a host and without credentials. */
export function checkWebhookUrl(url: string): string {
  const parsed = parsedAddress(url);
  const isUsable = parsed !== undefined && (parsed.protocol === "http:" || parsed.protocol === "https:") && parsed.hostname !== "";
  if (!isUsable)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot deliver to ${JSON.stringify(url.slice(0, 200))}: expected an http or https address with a host and at most ${MOST_OF_ADDRESS} characters`,
    );
  if (parsed.username !== "" || parsed.password !== "")
    throw new PdError("PD_BAD_INPUT", `Cannot deliver to ${JSON.stringify(parsed.origin)}: an address with a user name or password is not accepted`, {
      fix: "Verify the signature at the receiver instead",
    });
  return parsed.href;
}

/** Newest first. */
export function signingSecrets({ secret, oldSecrets }: Pick<Webhook, "secret" | "oldSecrets">, now: number): readonly string[] {
  return [secret, ...oldSecrets.filter(({ until }) => until > now).map((old) => old.secret)];
}

export function webhookSecret(random: string): string {
  return `whsec_${btoa(random)}`;
}

/** Omitted members stay unchanged. */
export interface WebhookChange {
  readonly url?: string;
  /** `null` removes it. */
  readonly name?: string | null;
  readonly description?: string | null;
  readonly active?: boolean;
  readonly secret?: string;
}

/** Activating clears the failures. */
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
