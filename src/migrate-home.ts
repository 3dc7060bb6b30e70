import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Settings } from "./config.ts";
import { openDatabase } from "./database/database.ts";
import type { Database } from "./database/driver.ts";
import { PdError } from "./domain/errors.ts";
import { clientConfigOf } from "./store/postgres/connection/address.ts";
import { withPostgres } from "./store/postgres/postgres-store.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { type Counts, type Progress, copyAll, countRows, isEmpty, isSame } from "./store/transfer/copy.ts";
import { postgresSide } from "./store/transfer/postgres-side.ts";
import { sqliteSide } from "./store/transfer/sqlite-side.ts";
import { systemClock } from "./system/clock.ts";
import { holdLock } from "./system/home/file-lock.ts";
import { makeHome } from "./system/home/home-folder.ts";
import { programFile } from "./system/program-files.ts";

export interface Migration {
  readonly settings: Settings;
  /** An address of PostgreSQL, or a folder. */
  readonly to: string;
  /** Of the address in `to`. */
  readonly passwordFile: string;
  readonly signal: AbortSignal;
  /** Nothing is copied when it resolves to false. */
  readonly agree: (counts: Counts) => Promise<boolean>;
  readonly onProgress: (progress: Progress) => void;
}

export interface Migrated {
  readonly counts: Counts;
  /** Where the SQLite database is now. */
  readonly path: string;
}

/**
 * Copies all data from SQLite in the home to PostgreSQL, or from PostgreSQL to SQLite in a folder, all or nothing. No
 * server may use either. Undefined when it was not agreed to. Throws PD_BAD_INPUT, PD_HOME_IN_USE,
 * PD_DATABASE_IN_USE, PD_CONFLICT when the target has data of its own.
 */
export async function migrateHome(migration: Migration): Promise<Migrated | undefined> {
  const { settings, to } = migration;
  const isToPostgres = /^postgres(ql)?:\/\//.test(to);
  if (isToPostgres !== (settings.databaseUrl === ""))
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot migrate to ${isToPostgres ? "PostgreSQL" : to}: the data is ${isToPostgres ? "there already" : "in SQLite already"}`,
      {
        fix: isToPostgres
          ? "Copy from one PostgreSQL to another with pg_dump and pg_restore"
          : "Give --to an address of PostgreSQL, or --database-url the one to copy from; to copy SQLite, use pd backup",
      },
    );
  const home = await makeHome(isToPostgres ? settings.home : resolve(to));
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw new PdError("PD_HOME_IN_USE", `Cannot migrate: a server is running on ${home}`, { fix: "pd down" });
  // The store checks its file for damage until then.
  const over = new AbortController();
  const ending = { ...migration, signal: AbortSignal.any([migration.signal, over.signal]) };
  try {
    return isToPostgres ? await toPostgres(ending, home) : await toSqlite(ending, home);
  } finally {
    over.abort();
    lock.release();
  }
}

async function toPostgres({ to, passwordFile, signal, agree, onProgress }: Migration, home: string): Promise<Migrated | undefined> {
  const path = join(home, "headwater.db");
  if (!existsSync(path)) throw new PdError("PD_FILE_NOT_FOUND", `Cannot migrate ${home}: it has no database`, { fix: "Name the home with --home" });
  // Migrates its schema, and removes what an interrupted run has left.
  await (await openSqlite(path, signal)).close();
  const db = openDatabase(path, { timeoutMs: 5000 });
  let counts: Counts | undefined;
  try {
    const from = sqliteSide(db);
    const found = await countRows(from);
    if (!(await agree(found))) return undefined;
    counts = await withPostgres(postgresSettings(to, { passwordFile, signal }), async (sql) => {
      const target = postgresSide(sql);
      if (isEmpty(await countRows(target))) return copyAll(from, target, onProgress);
      // An earlier migration may have been interrupted after its commit.
      if (await isSame(from, target)) return found;
      throw new PdError("PD_CONFLICT", "Cannot migrate to this PostgreSQL database: it has other data of Headwater", { fix: "Give --to an empty database" });
    });
  } finally {
    db.close();
  }
  const aside = `${path}.migrated-${new Date(systemClock.now()).toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const part of ["-wal", "-shm"]) await rm(path + part, { force: true });
  await rename(path, aside);
  await rm(join(home, "headwater.mark"), { force: true });
  return { counts, path: aside };
}

async function toSqlite({ settings, signal, agree, onProgress }: Migration, home: string): Promise<Migrated | undefined> {
  const path = join(home, "headwater.db");
  if (existsSync(path)) throw new PdError("PD_CONFLICT", `Cannot migrate to ${home}: it already has a database`, { fix: "Give --to another folder" });
  const folder = join(home, "migrating");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const draft = join(folder, "headwater.db");
  try {
    await (await openSqlite(draft, signal)).close();
    const { databaseUrl, databasePasswordFile: passwordFile } = settings;
    const counts = await withPostgres(postgresSettings(databaseUrl, { passwordFile, signal }), async (sql) => {
      const from = postgresSide(sql);
      if (!(await agree(await countRows(from)))) return undefined;
      const db = openDatabase(draft, { timeoutMs: 5000 });
      try {
        return await inTransaction(db, () => copyAll(from, sqliteSide(db), onProgress));
      } finally {
        db.close();
      }
    });
    if (counts === undefined) return undefined;
    await rename(draft, path);
    return { counts, path };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inTransaction<Made>(db: Database, work: () => Promise<Made>): Promise<Made> {
  db.exec("begin");
  try {
    const made = await work();
    db.exec("commit");
    // All is in the file that is moved.
    db.pragma("wal_checkpoint(truncate)");
    return made;
  } catch (error) {
    db.exec("rollback");
    throw error;
  }
}

const IDENTITY = { userId: "u_none", workspaceId: "o_none" } as const;

function openSqlite(path: string, signal: AbortSignal) {
  return openSqliteStore({
    path,
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    maintenanceEntry: programFile("maintenance.cjs"),
    mustExist: false,
    clock: systemClock,
    signal,
    onDamage: () => {},
    onUnchecked: () => {},
    onUnreadable: () => {},
    onRevision: () => {},
    identity: IDENTITY,
  });
}

function postgresSettings(url: string, { passwordFile, signal }: { passwordFile: string; signal: AbortSignal }) {
  return {
    config: clientConfigOf(url, passwordFile),
    migrations: programFile("postgres-migrations"),
    clock: systemClock,
    signal,
    onUnreadable: () => {},
    onMigration: () => {},
    identity: undefined,
  };
}
