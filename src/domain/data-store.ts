import type { JsonValue } from "./json.ts";

/** One call of a component on a data store (platform.md §4.7). */
export type DataStoreRequest =
  | { readonly operation: "get" | "has" | "delete"; readonly store: string; readonly key: string }
  /** `ttl`: seconds until the value is gone; absent: it stays. */
  | { readonly operation: "set"; readonly store: string; readonly key: string; readonly value: JsonValue; readonly ttl?: number }
  | { readonly operation: "set-ttl"; readonly store: string; readonly key: string; readonly ttl?: number }
  | { readonly operation: "keys" | "entries" | "clear"; readonly store: string };

/** What is kept under a key. */
export interface DataStoreValue {
  readonly value: JsonValue;
  /** When it is gone, epoch ms; absent: it stays. */
  readonly expiresAt?: number;
}

/** A value that is being set. */
export interface NewDataStoreValue extends DataStoreValue {
  /** Epoch ms. */
  readonly now: number;
}

/** Whether it is there at a time, epoch ms. */
export function isThere({ expiresAt }: Pick<DataStoreValue, "expiresAt">, now: number): boolean {
  return expiresAt === undefined || expiresAt > now;
}

/** When a value goes that is set now for so many seconds. */
export function expiryOf(ttl: number | undefined, now: number): { readonly expiresAt?: number } {
  return ttl === undefined ? {} : { expiresAt: Math.min(now + Math.round(ttl * 1000), Number.MAX_SAFE_INTEGER) };
}

/** A key-value store that several components share. */
export interface DataStore {
  readonly name: string;
  readonly keyCount: number;
  readonly createdAt: number;
}
