import type { JsonValue } from "../text/json.ts";

export type DataStoreRequest =
  | { readonly operation: "get" | "has" | "delete"; readonly store: string; readonly key: string }
  /** `ttl` is in seconds. Without it the value does not expire. */
  | { readonly operation: "set"; readonly store: string; readonly key: string; readonly value: JsonValue; readonly ttl?: number }
  | { readonly operation: "set-ttl"; readonly store: string; readonly key: string; readonly ttl?: number }
  | { readonly operation: "keys" | "entries" | "clear"; readonly store: string };

export interface DataStoreValue {
  readonly value: JsonValue;
  /** Epoch ms. Omitted when the value does not expire. */
  readonly expiresAt?: number;
}

export interface NewDataStoreValue extends DataStoreValue {
  readonly now: number;
}

export function isThere({ expiresAt }: Pick<DataStoreValue, "expiresAt">, now: number): boolean {
  return expiresAt === undefined || expiresAt > now;
}

/** `ttl` is in seconds, `now` in epoch ms. */
export function expiryOf(ttl: number | undefined, now: number): { readonly expiresAt?: number } {
  return ttl === undefined ? {} : { expiresAt: Math.min(now + Math.round(ttl * 1000), Number.MAX_SAFE_INTEGER) };
}

export interface DataStore {
  readonly name: string;
  readonly keyCount: number;
  readonly createdAt: number;
}
