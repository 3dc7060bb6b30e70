import type { Account } from "../domain/account.ts";
import type { DeployedComponent } from "../domain/deployed-component.ts";
import type { Registry } from "../domain/registry.ts";
import type { Webhook } from "../domain/webhook.ts";

export type SourceSecrets = Pick<DeployedComponent, "id" | "configured" | "setAside" | "env">;
type AccountSecrets = Pick<Account, "id" | "credentials">;
type WebhookSecrets = Pick<Webhook, "id" | "secret" | "oldSecrets">;

/** Exchanges the form in which secrets are kept. What somebody has changed since it was read stays as it is. */
export interface SecretStore {
  replaceSourceSecrets(before: SourceSecrets, after: SourceSecrets): Promise<void>;
  replaceWebhookSecrets(before: WebhookSecrets, after: WebhookSecrets): Promise<void>;
  replaceAccountCredentials(before: AccountSecrets, after: AccountSecrets): Promise<void>;
  replaceRegistryLocation(before: Registry, after: Registry): Promise<void>;
  /** Of sources that are being deployed, too. */
  listSourceSecrets(): Promise<readonly SourceSecrets[]>;
  /** Some of them, among which is one for each key that any part of any of them is sealed with, and one for each part that lies in clear, if there is one. */
  sampleSourceSecrets(): Promise<readonly SourceSecrets[]>;
  /** Nothing that was deleted or replaced is left in the files. */
  scrub(): Promise<void>;
}
