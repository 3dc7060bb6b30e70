import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Clock } from "../../../ports/clock.ts";
import { isLost } from "./errors.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";

export interface Migration {
  readonly next: number;
  readonly newest: number;
}

/** A restart of PostgreSQL, or both start at once. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 250;

interface Migrating {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly folder: string;
  /** Version of PostgreSQL. */
  readonly oldest: number;
  readonly onMigration: (migration: Migration) => void;
  /** After other servers have been waited for. */
  readonly check?: (client: pg.ClientBase) => Promise<void> | undefined;
}

/**
 * Returns the version of PostgreSQL. Servers that start at the same time wait for each other. Throws
 * PD_DATABASE_NEWER, PD_DATABASE_UNUSABLE.
 */
export async function migrate(config: pg.ClientConfig, migrating: Migrating): Promise<string> {
  const { clock, signal } = migrating;
  const until = clock.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await migrateOnce(config, migrating);
    } catch (error) {
      if (error instanceof PdError) throw error;
      if (!isLost(error) || signal.aborted || clock.now() >= until) throw unusable(error);
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }
}

async function migrateOnce(config: pg.ClientConfig, { folder, oldest, onMigration, check }: Migrating): Promise<string> {
  const client = new pg.Client(config);
  // Its statement fails as well.
  client.on("error", () => {});
  try {
    await client.connect();
    const version = await versionOf(client);
    if (Number.parseInt(version, 10) < oldest) throw new PdError("PD_DATABASE_UNUSABLE", `Cannot use PostgreSQL ${version}: ${oldest} or later is needed`);
    // Held until the connection ends.
    await client.query("select pg_advisory_lock(hashtextextended('headwater migrations ' || current_schema(), 0))");
    await check?.(client);
    await client.query("create table if not exists schema_revision (revision integer not null)");
    const files = readdirSync(folder)
      .filter((name) => name.endsWith(".sql"))
      .toSorted();
    const { rows } = await client.query<{ revision: number }>("select coalesce(max(revision), 0) as revision from schema_revision");
    const applied = rows[0]?.revision ?? 0;
    if (applied > files.length)
      throw new PdError("PD_DATABASE_NEWER", `Cannot open the database: its schema has revision ${applied}, but this version supports up to ${files.length}`);
    for (const [index, name] of files.entries()) {
      if (index < applied) continue;
      onMigration({ next: index + 1, newest: files.length });
      await client.query("begin");
      await client.query(readFileSync(join(folder, name), "utf8"));
      await client.query("insert into schema_revision (revision) values ($1)", [index + 1]);
      await client.query("commit");
    }
    return version;
  } finally {
    await client.end().catch(() => {});
  }
}

function unusable(error: unknown): PdError {
  return new PdError("PD_DATABASE_UNUSABLE", `Cannot open the PostgreSQL database: ${messageOf(error)}`, {
    cause: error,
    fix: "Check --database-url, and that the user may create tables in its schema",
  });
}

async function versionOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>("show server_version");
  return rows[0]?.server_version ?? "";
}
