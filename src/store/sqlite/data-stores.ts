import type { DataStoreStore } from "../../ports/data-store-store.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonValue, parseJson } from "../../domain/json.ts";
import type { Database } from "../../database/driver.ts";
import { row, rows } from "./rows.ts";

export interface DataStoreWrites {
  createDataStore(name: string, now: number): void;
  deleteDataStore(name: string): boolean;
  setDataStoreValue(store: string, key: string, value: JsonValue): void;
  deleteDataStoreValue(store: string, key: string): boolean;
  clearDataStore(store: string): void;
}

const SET = `insert into data_store_values (store, key, value) select name, ?, ? from data_stores where name = ?
  on conflict (store, key) do update set value = excluded.value`;

export function dataStoreWrites(db: Database): DataStoreWrites {
  const create = db.prepare("insert into data_stores (name, created_at) values (?, ?) on conflict (name) do nothing");
  const remove = db.prepare("delete from data_stores where name = ?");
  const set = db.prepare(SET);
  const removeValue = db.prepare("delete from data_store_values where store = ? and key = ?");
  const clear = db.prepare("delete from data_store_values where store = ?");
  return {
    createDataStore: (name, now) => void create.run(name, now),
    deleteDataStore: (name) => remove.run(name).changes > 0,
    setDataStoreValue(store, key, value) {
      if (set.run(key, JSON.stringify(value), store).changes === 0)
        throw new PdError("PD_NOT_FOUND", `Cannot set ${JSON.stringify(key)}: there is no data store "${store}"`);
    },
    deleteDataStoreValue: (store, key) => removeValue.run(store, key).changes > 0,
    clearDataStore: (store) => void clear.run(store),
  };
}

type DataStoreReads = Pick<DataStoreStore, "listDataStores" | "getDataStoreValue" | "listDataStoreValues">;

const LIST = `select name, created_at, (select count(*) from data_store_values where store = name) as key_count
  from data_stores order by name`;

export function dataStoreReads(db: Database): DataStoreReads {
  const list = db.prepare(LIST);
  const value = db.prepare("select value from data_store_values where store = ? and key = ?");
  const values = db.prepare("select key, value from data_store_values where store = ? order by key");
  return {
    listDataStores: async () =>
      rows(list.all()).map(({ name, created_at, key_count }) => ({ name: String(name), createdAt: Number(created_at), keyCount: Number(key_count) })),
    async getDataStoreValue(store, key) {
      const found = row(value.get(store, key));
      return found === undefined ? undefined : parseJson(String(found["value"]));
    },
    listDataStoreValues: async (store) => rows(values.all(store)).map(({ key, value: text }) => [String(key), parseJson(String(text)) ?? null] as const),
  };
}
