import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import builtWith from "better-sqlite3/package.json" with { type: "json" };
import type { Database, OpenOptions } from "./driver.ts";

const require = createRequire(import.meta.url);

/** Its own types do not say that a transaction returns what its function does. */
type Connection = Omit<Sqlite.Database, "transaction"> & {
  transaction(perform: <Value>(work: () => Value) => Value): { immediate<Value>(work: () => Value): Value };
};

type Driver = new (path: string, options: Sqlite.Options) => Connection;

interface Installed {
  readonly Driver: Driver;
  readonly nativeBinding?: string;
}

/** Threads are told which file the binary was that their process has loaded. */
const LOADED = "headwater: the binary of better-sqlite3";

let known: Installed | undefined;

/**
 * The driver's own JavaScript is built into this program, and takes the binary that was installed: so a thread loads fifteen
 * files less, for five milliseconds. The driver itself is loaded where another version is installed, or its binary lies elsewhere.
 */
function installed(): Installed {
  const manifest = require.resolve("better-sqlite3/package.json");
  const nativeBinding = join(dirname(manifest), "build", "Release", "better_sqlite3.node");
  const isThere = isBinaryOfProcess(nativeBinding);
  const { version }: typeof builtWith = require(manifest);
  const BuiltIn: unknown = Sqlite;
  return isDriver(BuiltIn) && version === builtWith.version && isThere ? { Driver: BuiltIn, nativeBinding } : { Driver: require("better-sqlite3") };
}

/**
 * False when there is none at this place. Throws when there was another one: two of SQLite's own in one process undo each other's
 * locks, so a thread that begins after an update fails.
 */
function isBinaryOfProcess(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  const loaded = getEnvironmentData(LOADED);
  const mark = found === undefined ? "none" : [found.dev, found.ino, found.mtimeMs].join(" ");
  if (loaded !== undefined && loaded !== mark) throw new Error(`${path} was replaced since this program has started. Start it again`);
  setEnvironmentData(LOADED, mark);
  return found !== undefined;
}

function isDriver(value: unknown): value is Driver {
  return typeof value === "function";
}

/** The driver of choice. Throws when its binary is not there, or not of this Node. */
export function openBetterSqlite(path: string, { isReadOnly = false, timeoutMs }: OpenOptions): Database {
  known ??= installed();
  const { Driver, ...own } = known;
  const db = new Driver(path, { timeout: timeoutMs, readonly: isReadOnly, ...own });
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
