import type { Account } from "../../domain/account/account.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { Registry } from "../../domain/component/registry.ts";
import type { Webhook } from "../../domain/delivery/webhook.ts";

export type SourceSecrets = Pick<DeployedComponent, "id" | "configured" | "setAside" | "env">;
type AccountSecrets = Pick<Account, "id" | "credentials">;
type WebhookSecrets = Pick<Webhook, "id" | "secret" | "oldSecrets">;

/** Replaces the stored form of secrets, unless they have changed since they were read. */
export interface SecretStore {
  replaceSourceSecrets(before: SourceSecrets, after: SourceSecrets): Promise<void>;
  replaceWebhookSecrets(before: WebhookSecrets, after: WebhookSecrets): Promise<void>;
  replaceAccountCredentials(before: AccountSecrets, after: AccountSecrets): Promise<void>;
  replaceRegistryLocation(before: Registry, after: Registry): Promise<void>;
  /** Includes sources that are being deployed. */
  listSourceSecrets(): Promise<readonly SourceSecrets[]>;
  /** Covers every key in use, and text in clear of each part that has any. */
  sampleSourceSecrets(): Promise<readonly SourceSecrets[]>;
  /** Removes deleted and replaced data from the files. */
  scrub(): Promise<void>;
}
