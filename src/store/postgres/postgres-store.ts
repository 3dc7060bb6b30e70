import type { ClientConfig } from "pg";
import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { Identity } from "../../ports/stores/subscription-store.ts";
import type { Store } from "../../ports/stores/store.ts";
import type { StoreFacts } from "../../ports/store-facts.ts";
import { readableRows } from "../rows/readable-rows.ts";
import { type Migration, migrate } from "./connection/migrate.ts";
import { SoleServer } from "./connection/sole-server.ts";
import { Connections, type Sql, clientConfig } from "./connection/sql.ts";
import { OLDEST_VERSION, postgresFacts } from "./facts.ts";
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
import { dropDonePending } from "./writing/pending.ts";
import { Turns } from "./writing/turns.ts";

export interface PostgresSettings {
  readonly config: ClientConfig;
  /** Folder of the schema's migrations. */
  readonly migrations: string;
  /** Stored in a new database. Undefined for one that is filled from another. */
  readonly identity: Identity | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for each row left out of a list. */
  readonly onUnreadable: (problem: string) => void;
  readonly onMigration: (migration: Migration) => void;
}

interface ServerSettings extends PostgresSettings {
  /** Later writes fail. */
  readonly onTakenOver: () => void;
}

/** The store of a server that shares the database with no other. Throws also PD_DATABASE_IN_USE. */
export async function openPostgresServer(settings: ServerSettings): Promise<{ store: Store; facts: StoreFacts }> {
  const { config, clock, signal, onTakenOver } = settings;
  let takeOver = (): void => {};
  // First, so that no migration changes the tables of a running server.
  const claim = await SoleServer.claim({ config: clientConfig(config, "headwater server"), clock, signal, onTakenOver: () => takeOver() });
  try {
    const { db, store, version } = await openPostgres(settings);
    let damage: string | undefined;
    takeOver = () => {
      damage = "another server has taken over the database";
      db.refuseWrites(new PdError("PD_NOT_STORED", `Cannot write to the database: ${damage}`, { fix: "Stop this server" }));
      onTakenOver();
    };
    const close = async (): Promise<void> => {
      await store.close();
      await claim.close();
    };
    return { store: { ...store, close }, facts: postgresFacts({ db, clock, version, damage: () => damage }) };
  } catch (error) {
    await claim.close();
    throw error;
  }
}

/** One transaction on a database that no server uses. Throws as `openPostgresServer`. */
export async function withPostgres<Made>(settings: PostgresSettings, work: (sql: Sql) => Promise<Made>): Promise<Made> {
  const { config, clock, signal } = settings;
  const claim = await SoleServer.claim({ config: clientConfig(config, "headwater server"), clock, signal, onTakenOver: () => {} });
  try {
    const { db } = await openPostgres(settings);
    try {
      return await db.transaction(work);
    } finally {
      await db.close();
    }
  } finally {
    await claim.close();
  }
}

/** Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER. */
export async function openPostgresStore(settings: PostgresSettings): Promise<Store> {
  return (await openPostgres(settings)).store;
}

async function openPostgres(settings: PostgresSettings): Promise<{ db: Connections; store: Store; version: string }> {
  const { config, migrations, identity, clock, signal, onMigration } = settings;
  const applicationName = `headwater ${clock.randomText(8)}`;
  const version = await migrate(clientConfig(config, applicationName), { folder: migrations, oldest: OLDEST_VERSION, clock, signal, onMigration });
  const db = new Connections({ config, applicationName, clock, signal });
  if (identity !== undefined) await saveIdentity(db, identity);
  await dropDonePending(db);
  return { db, store: storeOn(db, settings), version };
}

function storeOn(db: Connections, { onUnreadable }: Pick<PostgresSettings, "onUnreadable">): Store {
  const readRows = readableRows(onUnreadable);
  const runs = runTables(db, readRows);
  const components = componentTables(db, readRows);
  const lane = new CommitLane(db, runs.committed);
  const turns = new Turns();
  return {
    ...components,
    swap: (source, component, rest) => lane.inOrder(source.id, () => components.swap(source, component, rest)),
    ...runs,
    open: (id) => lane.inOrder(id, () => runs.open(id)),
    writeState: (id, changes, fence) => lane.inOrder(id, () => runs.writeState(id, changes, fence)),
    commit: (run) => lane.commit(run),
    append: (addendum) => lane.append(addendum),
    committed: (id) => lane.committed(id),
    storePending: (request) => lane.storePending(request),
    writeActionState: (action, changes) => turns.take(action, () => runs.writeActionState(action, changes)),
    ...postponedTable(db),
    ...eventTable(db),
    ...timerTables(db, readRows),
    ...subscriptionTables(db),
    ...deliveryTables(db, readRows),
    ...keyTable(db),
    ...inTurns(dataStoreTable(db), turns),
    ...registryTable(db),
    ...accountTable(db),
    ...secretTables(db),
    ...workflowTables(db, readRows),
    ...retention(db),
    ...usageReads(db),
    /** A barrier behind all earlier writes. PostgreSQL frees space itself. */
    async shrink() {
      await Promise.all([lane.settled(), db.settled()]);
      return 0;
    },
    async copyTo() {
      throw new PdError("PD_BAD_INPUT", "Cannot back up the data here: it is on PostgreSQL", { fix: "Back it up with pg_dump" });
    },
    async close() {
      await lane.settled();
      await db.close();
    },
  };
}

/** A component may give several writes of a data store at once. */
function inTurns(stores: DataStoreStore, turns: Turns): DataStoreStore {
  return {
    ...stores,
    deleteDataStore: (store) => turns.take(store, () => stores.deleteDataStore(store)),
    setDataStoreValue: (store, key, given) => turns.take(store, () => stores.setDataStoreValue(store, key, given)),
    setDataStoreExpiry: (store, key, expiresAt) => turns.take(store, () => stores.setDataStoreExpiry(store, key, expiresAt)),
    deleteDataStoreValue: (store, key) => turns.take(store, () => stores.deleteDataStoreValue(store, key)),
    clearDataStore: (store) => turns.take(store, () => stores.clearDataStore(store)),
  };
}
