import type { Account } from "../../../domain/account/account.ts";
import type { Registry } from "../../../domain/component/registry.ts";
import type { Webhook } from "../../../domain/delivery/webhook.ts";
import type { SecretStore, SourceSecrets } from "../../../ports/stores/secret-store.ts";
import type { Database } from "../../../database/driver.ts";
import { readableSecrets, rows } from "../../rows/rows.ts";

type AccountSecrets = Pick<Account, "id" | "credentials">;
type WebhookSecrets = Pick<Webhook, "id" | "secret" | "oldSecrets">;

export interface SecretWrites {
  replaceSourceSecrets(before: SourceSecrets, after: SourceSecrets): void;
  replaceWebhookSecrets(before: WebhookSecrets, after: WebhookSecrets): void;
  replaceAccountCredentials(before: AccountSecrets, after: AccountSecrets): void;
  replaceRegistryLocation(before: Registry, after: Registry): void;
}

export function secretWrites(db: Database): SecretWrites {
  const source = db.prepare(
    "update deployed_components set configured = ?, set_aside = ?, env = ? where id = ? and configured = ? and set_aside = ? and env = ?",
  );
  const webhook = db.prepare("update webhooks set secret = ?, old_secrets = ? where id = ? and secret = ? and old_secrets = ?");
  const account = db.prepare("update accounts set credentials = ? where id = ? and credentials = ?");
  const registry = db.prepare("update registries set location = ? where name = ? and location = ?");
  // SQLite then overwrites the clear text on disk.
  const overwrite = (): unknown => db.pragma("secure_delete = on");
  return {
    replaceSourceSecrets(before, after) {
      overwrite();
      source.run(...sourceTexts(after), before.id, ...sourceTexts(before));
    },
    replaceWebhookSecrets(before, after) {
      overwrite();
      webhook.run(...webhookTexts(after), before.id, ...webhookTexts(before));
    },
    replaceAccountCredentials: (before, after) => void account.run(JSON.stringify(after.credentials), before.id, JSON.stringify(before.credentials)),
    replaceRegistryLocation: (before, after) => void registry.run(after.location, before.name, before.location),
  };
}

function sourceTexts({ configured, setAside, env }: SourceSecrets): string[] {
  return [configured, setAside, env].map((part) => JSON.stringify(part));
}

function webhookTexts({ secret, oldSecrets }: WebhookSecrets): string[] {
  return [secret, JSON.stringify(oldSecrets)];
}

/** Length of `{"$sealed":"sealed:1:` and the key's id. A larger number would find more rows. */
const BEGINNING = 29;

const SAMPLE = `select id, configured, set_aside, env from deployed_components
  group by substr(configured, 1, ${BEGINNING}), substr(set_aside, 1, ${BEGINNING}), substr(env, 1, ${BEGINNING})`;

export function secretReads(db: Database): Pick<SecretStore, "listSourceSecrets" | "sampleSourceSecrets"> {
  const sources = db.prepare("select id, configured, set_aside, env from deployed_components");
  const sample = db.prepare(SAMPLE);
  return {
    listSourceSecrets: async () => rows(sources.all()).map(readableSecrets),
    sampleSourceSecrets: async () => rows(sample.all()).map(readableSecrets),
  };
}
