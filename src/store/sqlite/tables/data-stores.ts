import type { NewDataStoreValue } from "../../../domain/source/data-store.ts";
import type { DataStoreStore } from "../../../ports/stores/data-store-store.ts";
import { PdError } from "../../../domain/errors.ts";
import { parseJson } from "../../../domain/text/json.ts";
import type { Database } from "../../../database/driver.ts";
import { row, rows } from "../../rows/rows.ts";

export interface DataStoreWrites {
  createDataStore(name: string, now: number): void;
  deleteDataStore(name: string): boolean;
  setDataStoreValue(store: string, key: string, given: NewDataStoreValue): void;
  setDataStoreExpiry(store: string, key: string, expiresAt: number | undefined): boolean;
  deleteDataStoreValue(store: string, key: string): boolean;
  clearDataStore(store: string): void;
}

const SET = `insert into data_store_values (store, key, value, expires_at) select name, ?, ?, ? from data_stores where name = ?
  on conflict (store, key) do update set value = excluded.value, expires_at = excluded.expires_at`;
const THERE = "(expires_at is null or expires_at > ?)";

export function dataStoreWrites(db: Database): DataStoreWrites {
  const create = db.prepare("insert into data_stores (name, created_at) values (?, ?) on conflict (name) do nothing");
  const remove = db.prepare("delete from data_stores where name = ?");
  const set = db.prepare(SET);
  const expire = db.prepare("delete from data_store_values where store = ? and expires_at <= ?");
  const setExpiry = db.prepare("update data_store_values set expires_at = ? where store = ? and key = ?");
  const removeValue = db.prepare("delete from data_store_values where store = ? and key = ?");
  const clear = db.prepare("delete from data_store_values where store = ?");
  return {
    createDataStore: (name, now) => void create.run(name, now),
    deleteDataStore: (name) => remove.run(name).changes > 0,
    setDataStoreValue(store, key, { value, expiresAt, now }) {
      expire.run(store, now);
      if (set.run(key, JSON.stringify(value), expiresAt ?? null, store).changes === 0)
        throw new PdError("PD_NOT_FOUND", `Cannot set ${JSON.stringify(key)}: the data store "${store}" does not exist`);
    },
    setDataStoreExpiry: (store, key, expiresAt) => setExpiry.run(expiresAt ?? null, store, key).changes > 0,
    deleteDataStoreValue: (store, key) => removeValue.run(store, key).changes > 0,
    clearDataStore: (store) => void clear.run(store),
  };
}

type DataStoreReads = Pick<DataStoreStore, "listDataStores" | "getDataStoreValue" | "listDataStoreValues" | "listDataStoreExpiries">;

const LIST = `select name, created_at, (select count(*) from data_store_values where store = name and ${THERE}) as key_count
  from data_stores order by name`;

export function dataStoreReads(db: Database): DataStoreReads {
  const list = db.prepare(LIST);
  const value = db.prepare(`select value from data_store_values where store = ? and key = ? and ${THERE}`);
  const values = db.prepare(`select key, value from data_store_values where store = ? and ${THERE} order by key`);
  const expiries = db.prepare("select key, expires_at from data_store_values where store = ? and expires_at > ? order by key");
  return {
    listDataStoreExpiries: async (store, now) => rows(expiries.all(store, now)).map(({ key, expires_at: at }) => [String(key), Number(at)] as const),
    listDataStores: async (now) =>
      rows(list.all(now)).map(({ name, created_at, key_count }) => ({ name: String(name), createdAt: Number(created_at), keyCount: Number(key_count) })),
    async getDataStoreValue(store, key, now) {
      const found = row(value.get(store, key, now));
      return found === undefined ? undefined : parseJson(String(found["value"]));
    },
    listDataStoreValues: async (store, now) =>
      rows(values.all(store, now)).map(({ key, value: text }) => [String(key), parseJson(String(text)) ?? null] as const),
  };
}
