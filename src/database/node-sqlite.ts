import { createRequire } from "node:module";
import type { Database, OpenOptions, Statement } from "./driver.ts";

const require = createRequire(import.meta.url);

/** The oldest supported Node has no types for `node:sqlite`. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => {
    prepare(sql: string): Statement;
    exec(sql: string): void;
    close(): void;
  };
}

/** Callers distinguish these. Others become SQLITE_ERROR. */
const CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

/** Throws without `node:sqlite`. */
export function openNodeSqlite(path: string, { isReadOnly = false, timeoutMs }: OpenOptions): Database {
  const { DatabaseSync } = loadQuietly();
  const db = named(() => new DatabaseSync(path, { readOnly: isReadOnly }));
  const prepare = (sql: string): Statement => {
    const statement = named(() => db.prepare(sql));
    return {
      get: (...values) => named(() => statement.get(...values)),
      all: (...values) => named(() => statement.all(...values)),
      run: (...values) => named(() => statement.run(...values)),
    };
  };
  const exec = (sql: string): void => named(() => db.exec(sql));
  const pragma = (text: string): unknown => {
    const [first] = prepare(`pragma ${text}`).all();
    return typeof first === "object" && first !== null ? Object.values(first)[0] : undefined;
  };
  pragma(`busy_timeout = ${timeoutMs}`);
  const transactions = new Transactions(exec);
  let isOpen = true;
  return {
    driver: "node:sqlite",
    path,
    prepare,
    prepareLists(sql) {
      const statement = prepare(sql);
      return { all: (...values) => statement.all(...values).map((row) => Object.values(row ?? {})) };
    },
    exec,
    pragma,
    transaction: (work) => transactions.perform(work),
    get inTransaction() {
      return transactions.isOpen();
    },
    close() {
      if (isOpen) db.close();
      isOpen = false;
    },
  };
}

function loadQuietly(): NodeSqlite {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    const loaded: NodeSqlite = require("node:sqlite");
    return loaded;
  } finally {
    process.emitWarning = warn;
  }
}

/** SQLite's code in place of Node's single one. */
function named<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && "errcode" in error && typeof error.errcode === "number")
      throw Object.assign(error, { code: CODES[error.errcode & 0xff] ?? "SQLITE_ERROR" });
    throw error;
  }
}

class Transactions {
  readonly #exec: (sql: string) => void;
  #depth = 0;

  constructor(exec: (sql: string) => void) {
    this.#exec = exec;
  }

  perform<Value>(work: () => Value): Value {
    const isInner = this.#depth > 0;
    const name = `inner_${this.#depth}`;
    this.#exec(isInner ? `savepoint ${name}` : "begin immediate");
    this.#depth++;
    try {
      const value = work();
      this.#exec(isInner ? `release ${name}` : "commit");
      return value;
    } catch (error) {
      // A full disk may have rolled back everything.
      if (this.isOpen()) this.#exec(isInner ? `rollback to ${name}; release ${name}` : "rollback");
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** SQLite refuses a second `begin`. */
  isOpen(): boolean {
    if (this.#depth === 0) return false;
    try {
      this.#exec("begin");
    } catch {
      return true;
    }
    this.#exec("rollback");
    return false;
  }
}
