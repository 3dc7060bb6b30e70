import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import builtWith from "better-sqlite3/package.json" with { type: "json" };
import { PdError } from "../domain/errors.ts";
import type { Database, OpenOptions } from "./driver.ts";

const require = createRequire(import.meta.url);

type Connection = Omit<Sqlite.Database, "transaction"> & {
  transaction(perform: <Value>(work: () => Value) => Value): { immediate<Value>(work: () => Value): Value };
};

type Driver = new (path: string, options: Sqlite.Options) => Connection;

interface Installed {
  readonly Driver: Driver;
  readonly nativeBinding?: string;
  readonly mark: string;
}

/** Threads read here which binary their process has loaded. */
const LOADED = "headwater: binary of better-sqlite3";

let known: Installed | undefined;

/** The built-in copy of the driver's JavaScript starts a thread 5 ms faster. The installed driver is required when its version differs. */
function installed(): Installed {
  const manifest = require.resolve("better-sqlite3/package.json");
  const nativeBinding = join(dirname(manifest), "build", "Release", "better_sqlite3.node");
  const found = statSync(nativeBinding, { throwIfNoEntry: false });
  const mark = found === undefined ? "none" : [realpathSync(nativeBinding), found.dev, found.ino, found.mtimeMs].join(" ");
  requireLoaded(mark, nativeBinding);
  const { name, version }: typeof builtWith = require(manifest);
  const BuiltIn: unknown = Sqlite;
  const isBuiltIn = name === builtWith.name && version === builtWith.version && found !== undefined;
  return isBuiltIn && isDriver(BuiltIn) ? { Driver: BuiltIn, nativeBinding, mark } : { Driver: require("better-sqlite3"), mark };
}

/** Throws PD_DATABASE_UNUSABLE when the binary was replaced, as by an update: two copies of SQLite in one process release each other's locks. */
function requireLoaded(mark: string, path: string): void {
  const loaded = getEnvironmentData(LOADED);
  if (loaded === undefined || loaded === mark) return;
  throw new PdError("PD_DATABASE_UNUSABLE", `Cannot load ${path}: the file was replaced since this program loaded it, for example by an update`, {
    fix: "Restart the program",
  });
}

function isDriver(value: unknown): value is Driver {
  return typeof value === "function";
}

/** Throws when the binary is missing or for another Node. */
export function openBetterSqlite(path: string, { isReadOnly = false, timeoutMs }: OpenOptions): Database {
  // Failed loads are not cached: the binary may be repaired.
  const found = known ?? installed();
  const { Driver, mark, ...own } = found;
  const db = new Driver(path, { timeout: timeoutMs, readonly: isReadOnly, ...own });
  if (known === undefined) setEnvironmentData(LOADED, mark);
  known = found;
  // Each wrapping makes four functions.
  const whole = db.transaction((work) => work());
  return {
    driver: "better-sqlite3",
    path,
    prepare: (sql) => db.prepare<unknown[], unknown>(sql),
    prepareLists: (sql) => db.prepare<unknown[], readonly unknown[]>(sql).raw(),
    exec: (sql) => void db.exec(sql),
    pragma: (text) => db.pragma(text, { simple: true }),
    // Immediate: waits for other writers before reading.
    transaction: (work) => whole.immediate(work),
    get inTransaction() {
      return db.inTransaction;
    },
    close: () => void db.close(),
  };
}
