import type { JsonValue } from "./json.ts";

/** One call of a component on a data store (platform.md §4.7). */
export type DataStoreRequest =
  | { readonly operation: "get" | "has" | "delete"; readonly store: string; readonly key: string }
  | { readonly operation: "set"; readonly store: string; readonly key: string; readonly value: JsonValue }
  | { readonly operation: "keys" | "entries" | "clear"; readonly store: string };

/** A key-value store that several components share. */
export interface DataStore {
  readonly name: string;
  readonly keyCount: number;
  readonly createdAt: number;
}
