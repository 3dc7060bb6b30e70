import type { ClientConfig } from "pg";
import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity } from "../../ports/stores/subscription-store.ts";
import type { Store } from "../../ports/stores/store.ts";
import { readableRows } from "../rows/readable-rows.ts";
import { type Migration, migrate } from "./connection/migrate.ts";
import { Connections, clientConfig } from "./connection/sql.ts";
import { accountTable } from "./tables/accounts.ts";
import { componentTables } from "./tables/components.ts";
import { dataStoreTable } from "./tables/data-stores.ts";
import { deliveryTables } from "./tables/deliveries.ts";
import { eventTable } from "./tables/events.ts";
import { keyTable } from "./tables/keys.ts";
import { postponedTable } from "./tables/postponed.ts";
import { registryTable } from "./tables/registries.ts";
import { retention } from "./tables/retention.ts";
import { runTables } from "./tables/runs.ts";
import { secretTables } from "./tables/secrets.ts";
import { saveIdentity, subscriptionTables } from "./tables/subscriptions.ts";
import { timerTables } from "./tables/timers.ts";
import { usageReads } from "./tables/usage.ts";
import { workflowTables } from "./tables/workflows.ts";
import { CommitLane } from "./writing/commit-lane.ts";

export interface PostgresSettings {
  readonly config: ClientConfig;
  /** Folder of the schema's migrations. */
  readonly migrations: string;
  /** Stored in a new database. */
  readonly identity: Identity;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for each row left out of a list. */
  readonly onUnreadable: (problem: string) => void;
  readonly onMigration: (migration: Migration) => void;
}

/** Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER. */
export async function openPostgresStore(settings: PostgresSettings): Promise<Store> {
  const { config, migrations, identity, clock, signal, onUnreadable, onMigration } = settings;
  const applicationName = `headwater ${clock.randomText(8)}`;
  await migrate(clientConfig(config, applicationName), migrations, onMigration);
  const db = new Connections({ config, applicationName, clock, signal });
  await saveIdentity(db, identity);
  const readRows = readableRows(onUnreadable);
  const runs = runTables(db, readRows);
  const components = componentTables(db, readRows);
  const lane = new CommitLane(db, runs.committed);
  return {
    ...components,
    async swap(source, component, rest) {
      await components.swap(source, component, rest);
      lane.forget(source.id);
    },
    ...runs,
    commit: (run) => lane.commit(run),
    append: (addendum) => lane.append(addendum),
    storePending: (request) => lane.storePending(request),
    ...postponedTable(db),
    ...eventTable(db),
    ...timerTables(db, readRows),
    ...subscriptionTables(db),
    ...deliveryTables(db, readRows),
    ...keyTable(db),
    ...dataStoreTable(db),
    ...registryTable(db),
    ...accountTable(db),
    ...secretTables(db),
    ...workflowTables(db, readRows),
    ...retention(db),
    ...usageReads(db),
    async shrink() {
      await db.settled();
      return 0;
    },
    async copyTo(target) {
      throw new PdError("PD_BAD_INPUT", `Cannot copy the database to ${target}: it is on PostgreSQL`, { fix: "Back it up with pg_dump" });
    },
    async close() {
      await lane.settled();
      await db.close();
    },
  };
}
