import { createRequire } from "node:module";
import type Sqlite from "better-sqlite3";
import type { Database, OpenOptions } from "./driver.ts";

const require = createRequire(import.meta.url);

/** The driver of choice. Throws when its binary is not there, or not of this Node. */
export function openBetterSqlite(path: string, { isReadOnly = false, timeoutMs }: OpenOptions): Database {
  const Driver: typeof Sqlite = require("better-sqlite3");
  const db = new Driver(path, { timeout: timeoutMs, readonly: isReadOnly });
  return {
    driver: "better-sqlite3",
    path,
    prepare: (sql) => db.prepare<unknown[], unknown>(sql),
    exec: (sql) => void db.exec(sql),
    pragma: (text) => db.pragma(text, { simple: true }),
    // The outermost one waits for whoever else writes before anything is read.
    transaction: (work) => db.transaction(work).immediate(),
    get inTransaction() {
      return db.inTransaction;
    },
    close: () => void db.close(),
  };
}
