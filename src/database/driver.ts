/** What a driver of SQLite does for this program: the same SQL, the same codes of errors. */

/** A value of SQLite, as it is bound. */
export type Bound = string | number | bigint | null;

export interface Statement {
  /** The first row; `undefined`: there is none. */
  get(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown;
  all(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown[];
  run(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
}

/** Its rows are lists of values in the order of the columns: they take half of the time that objects take. */
export interface ListStatement {
  all(...values: readonly Bound[]): (readonly unknown[])[];
}

/** Errors have a `code` as SQLite names it: SQLITE_FULL, SQLITE_CONSTRAINT_UNIQUE. */
export interface Database {
  readonly driver: DriverName;
  readonly path: string;
  prepare(sql: string): Statement;
  /** Of columns with different names. */
  prepareLists(sql: string): ListStatement;
  /** Statements without values. */
  exec(sql: string): void;
  /** The value of a pragma, or what it answers first when it does something; `undefined`: nothing. */
  pragma(text: string): unknown;
  /** All or nothing; inside another one it undoes only itself. */
  transaction<Value>(work: () => Value): Value;
  readonly inTransaction: boolean;
  /** Does nothing when it is closed already. */
  close(): void;
}

export interface OpenOptions {
  readonly isReadOnly?: boolean;
  /** Waits so long for others that write; 0: not at all. */
  readonly timeoutMs: number;
}

export type DriverName = "better-sqlite3" | "node:sqlite";
