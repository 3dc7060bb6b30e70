import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "./config.ts";
import { driverFallback, driverName } from "./database/database.ts";
import { PdError, codeOf } from "./domain/errors.ts";
import type { Log } from "./ports/log.ts";
import type { StoreFacts } from "./ports/store-facts.ts";
import type { Store } from "./ports/stores/store.ts";
import type { Leadership } from "./store/postgres/cluster/leadership.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { systemClock } from "./system/clock.ts";
import { readIfThere } from "./system/home/whole-files.ts";
import { MIGRATING } from "./system/log.ts";
import { programFile } from "./system/program-files.ts";

interface StoreOpening {
  readonly settings: Pick<Settings, "databaseUrl" | "databasePasswordFile">;
  readonly home: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface OpenedStore {
  readonly store: Store;
  readonly facts: StoreFacts;
}

const FILES = ["headwater.db", "headwater.db-wal"];

/** SQLite in the home, or PostgreSQL. Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER, PD_DATABASE_IN_USE. */
export async function openStore(opening: StoreOpening): Promise<OpenedStore> {
  return opening.settings.databaseUrl === "" ? openSqlite(opening) : openPostgres(opening);
}

/** Of a store that a caller gave. */
export const GIVEN_STORE: StoreFacts = {
  name: "given",
  size: async () => 0,
  damage: () => undefined,
  isReady: async () => true,
  findings: async () => [],
};

async function openSqlite({ home, log, signal }: StoreOpening): Promise<OpenedStore> {
  let damage: string | undefined;
  const onDamage = (reason: string): void => {
    damage = reason;
    log.error("the database is damaged and no longer written: save readable data with pd backup, then restore a backup with pd restore", { reason });
  };
  const store = await openSqliteStore({
    path: join(home, "headwater.db"),
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    maintenanceEntry: programFile("maintenance.cjs"),
    mustExist: (await readIfThere(join(home, "secret-key"))) !== undefined,
    clock: systemClock,
    signal,
    onDamage,
    onUnchecked: (reason) => log.warn("could not check the database for damage: the next check is in an hour, or at a start", { reason }),
    onUnreadable: unreadable(log),
    onRevision: migrating(log),
    identity: newIdentity(),
  });
  const fallback = driverFallback();
  if (fallback !== undefined) log.info(fallback);
  const facts: StoreFacts = {
    name: driverName(),
    size: async () => (await Promise.all(FILES.map((name) => sizeOf(join(home, name))))).reduce((sum, size) => sum + size, 0),
    damage: () => damage,
    isReady: async () => damage === undefined,
    findings: async () => [],
  };
  return { store, facts };
}

async function openPostgres(opening: StoreOpening): Promise<OpenedStore> {
  const { openPostgresServer } = await import("./store/postgres/postgres-store.ts");
  return openPostgresServer(await postgresSettings(opening, "this server writes nothing more and should be stopped"));
}

/** Of a node of a cluster. Throws as `openStore`. */
export async function openAsLeader(leadership: Leadership, opening: StoreOpening): Promise<OpenedStore> {
  const { openPostgresAsLeader } = await import("./store/postgres/postgres-store.ts");
  return openPostgresAsLeader(leadership, await postgresSettings(opening, "this node ends its work"));
}

async function postgresSettings({ settings: { databaseUrl, databasePasswordFile }, home, log, signal }: StoreOpening, whatFollows: string) {
  if (existsSync(join(home, "headwater.db")))
    throw new PdError("PD_CONFLICT", `Cannot use PostgreSQL: the home ${home} has a SQLite database, whose sources would be missing`, {
      fix: "Copy its data with pd migrate --to <url>, or use another --home",
    });
  const { clientConfigOf } = await import("./store/postgres/connection/address.ts");
  return {
    config: clientConfigOf(databaseUrl, databasePasswordFile),
    migrations: programFile("postgres-migrations"),
    clock: systemClock,
    signal,
    onUnreadable: unreadable(log),
    onMigration: migrating(log),
    onTakenOver: (reason: string) => log.error(`lost the database: ${whatFollows}`, { reason }),
    identity: newIdentity(),
  };
}

function unreadable(log: Log): (problem: string) => void {
  return (problem) => log.error("skipped a database row that cannot be read: it stays in the database, but is not listed", { problem });
}

function migrating(log: Log): (revision: { readonly next: number; readonly newest: number }) => void {
  return ({ next, newest }) => log.info(MIGRATING, { revision: `${next} of ${newest}` });
}

function newIdentity(): { userId: `u_${string}`; workspaceId: `o_${string}` } {
  return { userId: `u_${systemClock.randomText(7)}`, workspaceId: `o_${systemClock.randomText(7)}` };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}
