import type { DataStore, NewDataStoreValue } from "../domain/data-store.ts";
import type { JsonValue } from "../domain/json.ts";

/** Key-value stores that several components share (platform.md §4.7, data store). */
export interface DataStoreStore {
  /** By name. `now`, here and below: epoch ms; values that have expired by then are not there. */
  listDataStores(now: number): Promise<readonly DataStore[]>;
  /** Does nothing when there is one of this name. */
  createDataStore(name: string, now: number): Promise<void>;
  /** With all its values. Resolves to false when there is none. */
  deleteDataStore(name: string): Promise<boolean>;
  /** `undefined`: the key is not set. */
  getDataStoreValue(store: string, key: string, now: number): Promise<JsonValue | undefined>;
  /** By key. */
  listDataStoreValues(store: string, now: number): Promise<readonly (readonly [string, JsonValue])[]>;
  /** Of keys that expire, by key: when, epoch ms. */
  listDataStoreExpiries(store: string, now: number): Promise<readonly (readonly [string, number])[]>;
  /** What has expired in the store by now goes with it. Throws PD_NOT_FOUND when there is no such store. */
  setDataStoreValue(store: string, key: string, given: NewDataStoreValue): Promise<void>;
  /** `expiresAt`: epoch ms; omitted: it stays. Resolves to false when the key was not set. */
  setDataStoreExpiry(store: string, key: string, expiresAt: number | undefined): Promise<boolean>;
  /** Resolves to false when the key was not set. */
  deleteDataStoreValue(store: string, key: string): Promise<boolean>;
  clearDataStore(store: string): Promise<void>;
}
