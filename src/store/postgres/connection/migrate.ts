import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { PdError, messageOf } from "../../../domain/errors.ts";

export interface Migration {
  readonly next: number;
  readonly newest: number;
}

/** Servers that start at the same time wait for each other. Throws PD_DATABASE_NEWER, PD_DATABASE_UNUSABLE. */
export async function migrate(config: pg.ClientConfig, folder: string, onMigration: (migration: Migration) => void): Promise<void> {
  const client = new pg.Client(config);
  try {
    await client.connect();
    // Held until the connection ends.
    await client.query("select pg_advisory_lock(hashtextextended('headwater migrations ' || current_schema(), 0))");
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
  } catch (error) {
    if (error instanceof PdError) throw error;
    throw new PdError("PD_DATABASE_UNUSABLE", `Cannot open the PostgreSQL database: ${messageOf(error)}`, {
      cause: error,
      fix: "Check --database-url, and that the user may create tables in its schema",
    });
  } finally {
    await client.end().catch(() => {});
  }
}
