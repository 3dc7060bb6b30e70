import type { DataStore, NewDataStoreValue } from "../../domain/source/data-store.ts";
import type { JsonValue } from "../../domain/text/json.ts";

/** `now` is in epoch ms. Expired values do not exist. */
export interface DataStoreStore {
  /** By name. */
  listDataStores(now: number): Promise<readonly DataStore[]>;
  createDataStore(name: string, now: number): Promise<void>;
  /** Includes all values. False when it does not exist. */
  deleteDataStore(name: string): Promise<boolean>;
  getDataStoreValue(store: string, key: string, now: number): Promise<JsonValue | undefined>;
  /** By key. */
  listDataStoreValues(store: string, now: number): Promise<readonly (readonly [string, JsonValue])[]>;
  /** Epoch ms of the keys that expire, by key. */
  listDataStoreExpiries(store: string, now: number): Promise<readonly (readonly [string, number])[]>;
  /** Also deletes expired values. Throws PD_NOT_FOUND when the store does not exist. */
  setDataStoreValue(store: string, key: string, given: NewDataStoreValue): Promise<void>;
  /** Epoch ms. Undefined means never. False when the key is not set. */
  setDataStoreExpiry(store: string, key: string, expiresAt: number | undefined): Promise<boolean>;
  /** False when the key is not set. */
  deleteDataStoreValue(store: string, key: string): Promise<boolean>;
  clearDataStore(store: string): Promise<void>;
}
