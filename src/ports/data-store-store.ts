import type { DataStore } from "../domain/data-store.ts";
import type { JsonValue } from "../domain/json.ts";

/** Key-value stores that several components share (platform.md §4.7, data store). */
export interface DataStoreStore {
  /** By name. */
  listDataStores(): Promise<readonly DataStore[]>;
  /** Does nothing when there is one of this name. */
  createDataStore(name: string, now: number): Promise<void>;
  /** With all its values. Resolves to false when there is none. */
  deleteDataStore(name: string): Promise<boolean>;
  /** `undefined`: the key is not set. */
  getDataStoreValue(store: string, key: string): Promise<JsonValue | undefined>;
  /** By key. */
  listDataStoreValues(store: string): Promise<readonly (readonly [string, JsonValue])[]>;
  /** Throws PD_NOT_FOUND when there is no such store. */
  setDataStoreValue(store: string, key: string, value: JsonValue): Promise<void>;
  /** Resolves to false when the key was not set. */
  deleteDataStoreValue(store: string, key: string): Promise<boolean>;
  clearDataStore(store: string): Promise<void>;
}
