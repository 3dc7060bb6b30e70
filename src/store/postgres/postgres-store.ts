import type { ClientBase, ClientConfig } from "pg";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { Identity } from "../../ports/stores/subscription-store.ts";
import type { Store } from "../../ports/stores/store.ts";
import type { StoreFacts } from "../../ports/store-facts.ts";
import { readableRows } from "../rows/readable-rows.ts";
import { type Migration, migrate } from "./connection/migrate.ts";
import { ALONE, Leadership, PATIENCE_MS } from "./cluster/leadership.ts";
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
import { alertTable } from "./tables/alerts.ts";
import { tallyTable } from "./tables/tallies.ts";
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

/** The store of a server that is alone on the database. Throws also PD_DATABASE_IN_USE. */
export async function openPostgresServer(settings: ServerSettings): Promise<OpenedServer> {
  return openPostgresAsLeader(await claimAlone(settings), settings);
}

interface ServerSettings extends PostgresSettings {
  /** Later reads and writes fail. */
  readonly onTakenOver: (reason: string) => void;
}

export interface OpenedServer {
  readonly store: Store;
  readonly facts: StoreFacts;
}

/** Closing the store ends the leadership. */
export async function openPostgresAsLeader(leadership: Leadership, settings: ServerSettings): Promise<OpenedServer> {
  const { clock, onTakenOver } = settings;
  try {
    const { db, store, version } = await openPostgres(settings, leadership);
    const lost = leadership.lost;
    const tell = (): void => {
      db.refuseWrites(lost.reason);
      onTakenOver(messageOf(lost.reason));
    };
    if (lost.aborted) tell();
    else lost.addEventListener("abort", tell, { once: true });
    const close = async (): Promise<void> => {
      await store.close();
      await leadership.close();
    };
    return { store: { ...store, close }, facts: postgresFacts({ db, clock, version, damage: () => (lost.aborted ? messageOf(lost.reason) : undefined) }) };
  } catch (error) {
    await leadership.close();
    throw error;
  }
}

/** One transaction on a database that no server uses. Throws as `openPostgresServer`. */
export async function withPostgres<Made>(settings: PostgresSettings, work: (sql: Sql) => Promise<Made>): Promise<Made> {
  const leadership = await claimAlone(settings);
  try {
    const { db } = await openPostgres(settings, leadership);
    try {
      return await db.transaction(work);
    } finally {
      await db.close();
    }
  } finally {
    await leadership.close();
  }
}

/** Before the schema is migrated, so that the tables of a running server stay as they are. */
function claimAlone({ config, clock, signal }: PostgresSettings): Promise<Leadership> {
  return Leadership.claim({ config, clock, signal, candidate: ALONE, patienceMs: PATIENCE_MS });
}

/** Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER. */
export async function openPostgresStore(settings: PostgresSettings): Promise<Store> {
  return (await openPostgres(settings)).store;
}

/** Without leadership, several can use the database at once. */
async function openPostgres(settings: PostgresSettings, leadership?: Leadership): Promise<{ db: Connections; store: Store; version: string }> {
  const { config, migrations, identity, clock, signal, onMigration } = settings;
  const applicationName = leadership?.sessionName ?? `headwater ${clock.randomText(8)}`;
  const check = (client: ClientBase): Promise<void> | undefined => leadership?.check(client);
  const version = await migrate(clientConfig(config, applicationName), { folder: migrations, oldest: OLDEST_VERSION, clock, signal, onMigration, check });
  const db = new Connections({ config, applicationName, clock, signal, check });
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
    ...tallyTable(db),
    ...alertTable(db),
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
