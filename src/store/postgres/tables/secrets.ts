import type { Webhook } from "../../../domain/delivery/webhook.ts";
import type { SecretStore, SourceSecrets } from "../../../ports/stores/secret-store.ts";
import { readableSecrets } from "../../rows/rows.ts";
import type { Database } from "../connection/sql.ts";

/** Length of `{"$sealed":"sealed:1:` and the key's id. A larger number would find more rows. */
const BEGINNING = 29;
const SAMPLE = `select distinct on (substr(configured, 1, ${BEGINNING}), substr(set_aside, 1, ${BEGINNING}), substr(env, 1, ${BEGINNING}))
  id, configured, set_aside, env from deployed_components`;
const REPLACE_SOURCE = `update deployed_components set configured = $2, set_aside = $3, env = $4
  where id = $1 and configured = $5 and set_aside = $6 and env = $7`;

export function secretTables(db: Database): SecretStore {
  return {
    async replaceSourceSecrets(before, after) {
      await db.run(REPLACE_SOURCE, before.id, ...sourceTexts(after), ...sourceTexts(before));
    },
    async replaceWebhookSecrets(before, after) {
      const replace = "update webhooks set secret = $2, old_secrets = $3 where id = $1 and secret = $4 and old_secrets = $5";
      await db.run(replace, before.id, ...webhookTexts(after), ...webhookTexts(before));
    },
    async replaceAccountCredentials(before, after) {
      const texts = [after, before].map(({ credentials }) => JSON.stringify(credentials));
      await db.run("update accounts set credentials = $2 where id = $1 and credentials = $3", before.id, ...texts);
    },
    async replaceRegistryLocation(before, after) {
      await db.run("update registries set location = $2 where name = $1 and location = $3", before.name, after.location, before.location);
    },
    listSourceSecrets: async () => (await db.all("select id, configured, set_aside, env from deployed_components")).map(readableSecrets),
    sampleSourceSecrets: async () => (await db.all(SAMPLE)).map(readableSecrets),
    /** Log, replicas and backups of PostgreSQL keep what was replaced for as long as they are kept. */
    async scrub() {
      for (const table of ["deployed_components", "webhooks", "accounts", "registries"]) await db.runAgain(`vacuum full ${table}`);
    },
  };
}

function sourceTexts({ configured, setAside, env }: SourceSecrets): string[] {
  return [configured, setAside, env].map((part) => JSON.stringify(part));
}

function webhookTexts({ secret, oldSecrets }: Pick<Webhook, "secret" | "oldSecrets">): string[] {
  return [secret, JSON.stringify(oldSecrets)];
}
