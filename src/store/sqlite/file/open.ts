import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../database/database.ts";
import type { Database } from "../../../database/driver.ts";
import { PdError, codeOf, messageOf } from "../../../domain/errors.ts";
import { row } from "../../rows/rows.ts";
import type { Witness } from "./witness.ts";

/** watch-damage.ts checks larger files in the background. */
export const FULL_CHECK_BELOW_PAGES = 16_000;

const BUSY_TIMEOUT_MS = 5000;

/** SQLite's default. Drivers may set 16 MB for each connection, though the system caches the pages for all. */
const CACHE_KIB = 2000;

export interface Revision {
  readonly next: number;
  readonly newest: number;
}

interface Opening {
  readonly witness: Witness;
  /** Called before each migration of a database that is not empty. */
  readonly onRevision: (revision: Revision) => void;
}

/** Opens and migrates. Never overwrites a file that it cannot read. Throws PD_DATABASE_UNUSABLE, PD_DATABASE_NEWER or PD_NOT_STORED. */
export function openForWriting(path: string, migrationsFolder: string, { witness, onRevision }: Opening): Database {
  const acknowledged = witness.read();
  if (acknowledged > 0 && !isThere(path)) throw witness.lost(path, 0, acknowledged);
  const db = open(path);
  try {
    const pages = Number(db.pragma("page_count"));
    check(db, { path, pages });
    refuseLoss(db, path, { witness, acknowledged });
    // Lets pruning return space to the disk. Must come before the first table.
    if (pages === 0) db.pragma("auto_vacuum = incremental");
    db.pragma("journal_mode = wal");
    db.pragma("synchronous = full");
    db.pragma("foreign_keys = on");
    // The writer makes checkpoints when no commit waits.
    db.pragma("wal_autocheckpoint = 0");
    migrate(db, migrationsFolder, pages === 0 ? () => {} : onRevision);
    return db;
  } catch (error) {
    db.close();
    throw unusable(path, error);
  }
}

export function isSqliteAtLeast(db: Database, version: readonly [number, number, number]): boolean {
  const found = String(row(db.prepare("select sqlite_version() as version").get())?.["version"])
    .split(".")
    .map(Number);
  const place = version.findIndex((part, index) => part !== (found[index] ?? 0));
  return place < 0 || (found[place] ?? 0) > (version[place] ?? 0);
}

export function openForReading(path: string): Database {
  const db = open(path);
  db.pragma("query_only = on");
  return db;
}

function open(path: string): Database {
  try {
    return withSmallCache(openDatabase(path, { timeoutMs: BUSY_TIMEOUT_MS }));
  } catch (error) {
    throw unusable(path, error);
  }
}

function withSmallCache(db: Database): Database {
  try {
    db.pragma(`cache_size = -${CACHE_KIB}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function unusable(path: string, error: unknown): PdError {
  if (error instanceof PdError) return error;
  const code = codeOf(error) ?? "";
  // The file itself is sound.
  if (code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR") || code === "SQLITE_READONLY" || code === "SQLITE_CANTOPEN")
    return new PdError("PD_NOT_STORED", `Cannot open the database ${path} for writing: ${messageOf(error)} (${code})`, {
      fix: "Free disk space under PD_HOME and check that it is writable, then restart; nothing was changed",
      cause: error,
    });
  return new PdError("PD_DATABASE_UNUSABLE", `Cannot open the database ${path}: ${messageOf(error)}`, { cause: error });
}

function isThere(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Only reads. */
function refuseLoss(db: Database, path: string, { witness, acknowledged }: { witness: Witness; acknowledged: number }): void {
  if (acknowledged === 0) return;
  const hasCount = db.prepare("select 1 from sqlite_master where name = 'commits'").get() !== undefined;
  const found = hasCount ? Number(row(db.prepare("select count from commits").get())?.["count"]) : 0;
  if (found < acknowledged) throw witness.lost(path, found, acknowledged);
}

/** Only reads, so that a damaged file stays as it was found. */
function check(db: Database, { path, pages }: { path: string; pages: number }): void {
  if (pages > FULL_CHECK_BELOW_PAGES) return;
  const verdict = damageOf(db);
  if (verdict !== undefined) throw new PdError("PD_DATABASE_UNUSABLE", `Cannot open the database ${path}: it is damaged: ${verdict}`);
}

/** Reads every page. Undefined when sound. */
export function damageOf(db: Database): string | undefined {
  const verdict = String(db.pragma("quick_check(1)"));
  return verdict === "ok" ? undefined : verdict;
}

/** Other errors, such as too many open files, are not damage. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB") || code === "SQLITE_IOERR_CORRUPTFS";
}

function migrationsIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted();
}

export function newestRevision(migrationsFolder: string): number {
  return migrationsIn(migrationsFolder).length;
}

/** Throws PD_DATABASE_NEWER. */
export function requireKnownRevision(db: Database, newest: number): number {
  const applied = Number(db.pragma("user_version"));
  if (applied <= newest) return applied;
  throw new PdError("PD_DATABASE_NEWER", `Cannot open the database ${db.path}: its schema has revision ${applied}, but this version supports up to ${newest}`);
}

function migrate(db: Database, folder: string, onRevision: Opening["onRevision"]): void {
  const files = migrationsIn(folder);
  const applied = requireKnownRevision(db, files.length);
  files.slice(applied).forEach((name, index) => {
    onRevision({ next: applied + index + 1, newest: files.length });
    db.transaction(() => {
      db.exec(readFileSync(join(folder, name), "utf8"));
      db.pragma(`user_version = ${applied + index + 1}`);
    });
  });
}
