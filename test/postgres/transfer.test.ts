import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { rows } from "../../src/store/rows/rows.ts";
import { TABLES } from "../../src/store/transfer/tables.ts";
import { temporaryFolder } from "../support/home.ts";
import { newDatabase, postgresForTests } from "../support/postgres.ts";
import { openStoreAt } from "../support/store.ts";

const server = postgresForTests();
/** Of one database alone. */
const OWN = ["commits", "staged_events", "schema_revision", "listeners_version", "write_marks"];

function sorted(tables: ReadonlyMap<string, readonly string[]>): unknown {
  return [...tables].map(([name, columns]) => [name, columns.toSorted()] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe("what pd migrate copies", () => {
  const listed = new Map(TABLES.map(({ name, columns }) => [name, columns.map((column) => column.name)]));

  it("is every column of SQLite", async () => {
    const path = join(await temporaryFolder(), "test.db");
    await (await openStoreAt(path)).close();
    const db = openDatabase(path, { timeoutMs: 1000 });
    const tables = rows(db.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all()).map(({ name }) => String(name));
    const columns = tables
      .filter((name) => !OWN.includes(name))
      .map((name): [string, string[]] => {
        const own = rows(db.prepare(`select name from pragma_table_info('${name}')`).all()).map((column) => String(column["name"]));
        return [name, TABLES.find((table) => table.name === name)?.sequence === "rowid" ? ["seq", ...own] : own];
      });
    db.close();
    expect(sorted(listed)).toEqual(sorted(new Map(columns)));
  });

  it("is every column of PostgreSQL", async () => {
    const client = new pg.Client(await newDatabase(server()));
    await client.connect();
    const { rows: found } = await client.query<{ table_name: string; column_name: string }>(
      "select table_name, column_name from information_schema.columns where table_schema = 'public'",
    );
    await client.end();
    const columns = new Map<string, string[]>();
    for (const { table_name: table, column_name: column } of found)
      if (!OWN.includes(table) && column !== "declared_version") columns.set(table, [...(columns.get(table) ?? []), column]);
    expect(sorted(listed)).toEqual(sorted(columns));
  });
});
