export type Bound = string | number | bigint | null;

export interface Statement {
  get(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown;
  all(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): unknown[];
  run(...values: readonly (Bound | Readonly<Record<string, Bound>>)[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
}

/** Rows as lists take half the time of objects. */
export interface ListStatement {
  all(...values: readonly Bound[]): (readonly unknown[])[];
}

/** `code` of errors is SQLite's name, such as SQLITE_FULL. */
export interface Database {
  readonly driver: DriverName;
  readonly path: string;
  prepare(sql: string): Statement;
  /** Column names must differ. */
  prepareLists(sql: string): ListStatement;
  exec(sql: string): void;
  pragma(text: string): unknown;
  /** Nested ones roll back only their own changes. */
  transaction<Value>(work: () => Value): Value;
  readonly inTransaction: boolean;
  close(): void;
}

export interface OpenOptions {
  readonly isReadOnly?: boolean;
  /** Wait for other writers. 0 fails at once. */
  readonly timeoutMs: number;
}

export type DriverName = "better-sqlite3" | "node:sqlite";
