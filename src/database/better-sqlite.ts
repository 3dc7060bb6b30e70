import { createRequire } from "node:module";
import type Sqlite from "better-sqlite3";
import type { Database, OpenOptions } from "./driver.ts";

const require = createRequire(import.meta.url);

/** Its own types do not say that a transaction returns what its function does. */
type Connection = Omit<Sqlite.Database, "transaction"> & {
  transaction(perform: <Value>(work: () => Value) => Value): { immediate<Value>(work: () => Value): Value };
};

/** The driver of choice. Throws when its binary is not there, or not of this Node. */
export function openBetterSqlite(path: string, { isReadOnly = false, timeoutMs }: OpenOptions): Database {
  const Driver: new (path: string, options: Sqlite.Options) => Connection = require("better-sqlite3");
  const db = new Driver(path, { timeout: timeoutMs, readonly: isReadOnly });
  // Made once: the driver makes four functions for each that it is given.
  const whole = db.transaction((work) => work());
  return {
    driver: "better-sqlite3",
    path,
    prepare: (sql) => db.prepare<unknown[], unknown>(sql),
    prepareLists: (sql) => db.prepare<unknown[], readonly unknown[]>(sql).raw(),
    exec: (sql) => void db.exec(sql),
    pragma: (text) => db.pragma(text, { simple: true }),
    // The outermost one waits for whoever else writes before anything is read.
    transaction: (work) => whole.immediate(work),
    get inTransaction() {
      return db.inTransaction;
    },
    close: () => void db.close(),
  };
}
