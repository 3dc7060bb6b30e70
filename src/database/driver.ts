export type Bound = string | number | bigint | null;

export interface Statement {
  get(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown;
  all(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown[];
  run(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
}

/** Rows are lists of values, which takes half the time of objects. */
export interface ListStatement {
  all(...values: readonly Bound[]): (readonly unknown[])[];
}

/** Errors have SQLite's name as their `code`, such as SQLITE_FULL. */
export interface Database {
  readonly driver: DriverName;
  readonly path: string;
  prepare(sql: string): Statement;
  /** Column names must differ. */
  prepareLists(sql: string): ListStatement;
  exec(sql: string): void;
  pragma(text: string): unknown;
  /** A nested transaction rolls back only its own changes. */
  transaction<Value>(work: () => Value): Value;
  readonly inTransaction: boolean;
  close(): void;
}

export interface OpenOptions {
  readonly isReadOnly?: boolean;
  /** How long to wait for other writers. 0 fails at once. */
  readonly timeoutMs: number;
}

export type DriverName = "better-sqlite3" | "node:sqlite";
