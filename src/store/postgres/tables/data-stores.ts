import { PdError } from "../../../domain/errors.ts";
import { parseJson } from "../../../domain/text/json.ts";
import type { DataStoreStore } from "../../../ports/stores/data-store-store.ts";
import type { Database } from "../connection/sql.ts";

const THERE = "(expires_at is null or expires_at > $2)";
const LIST = `select name, created_at, (select count(*) from data_store_values where store = name and (expires_at is null or expires_at > $1)) as key_count
  from data_stores order by name`;
/** Also deletes expired values, except the one that is replaced: a statement changes a row only once. */
const SET = `with expired as (delete from data_store_values where store = $1 and expires_at <= $5 and key <> $2)
  insert into data_store_values (store, key, value, expires_at) select name, $2, $3, $4 from data_stores where name = $1
  on conflict (store, md5(key)) do update set value = excluded.value, expires_at = excluded.expires_at`;

export function dataStoreTable(db: Database): DataStoreStore {
  return {
    listDataStores: async (now) =>
      (await db.all(LIST, now)).map(({ name, created_at, key_count }) => ({ name: String(name), createdAt: Number(created_at), keyCount: Number(key_count) })),
    async createDataStore(name, now) {
      await db.run("insert into data_stores (name, created_at) values ($1, $2) on conflict do nothing", name, now);
    },
    deleteDataStore: async (name) => (await db.run("delete from data_stores where name = $1", name)).count > 0,
    async getDataStoreValue(store, key, now) {
      const found = await db.first(`select value from data_store_values where store = $1 and ${THERE} and key = $3`, store, now, key);
      return found === undefined ? undefined : parseJson(String(found["value"]));
    },
    listDataStoreValues: async (store, now) =>
      (await db.all(`select key, value from data_store_values where store = $1 and ${THERE} order by key`, store, now)).map(
        ({ key, value }) => [String(key), parseJson(String(value)) ?? null] as const,
      ),
    listDataStoreExpiries: async (store, now) =>
      (await db.all("select key, expires_at from data_store_values where store = $1 and expires_at > $2 order by key", store, now)).map(
        ({ key, expires_at: at }) => [String(key), Number(at)] as const,
      ),
    async setDataStoreValue(store, key, { value, expiresAt, now }) {
      const { count } = await db.run(SET, store, key, JSON.stringify(value), expiresAt ?? null, now);
      if (count === 0) throw new PdError("PD_NOT_FOUND", `Cannot set ${JSON.stringify(key)}: the data store "${store}" does not exist`);
    },
    setDataStoreExpiry: async (store, key, expiresAt) =>
      (await db.run("update data_store_values set expires_at = $3 where store = $1 and key = $2", store, key, expiresAt ?? null)).count > 0,
    deleteDataStoreValue: async (store, key) => (await db.run("delete from data_store_values where store = $1 and key = $2", store, key)).count > 0,
    async clearDataStore(store) {
      await db.run("delete from data_store_values where store = $1", store);
    },
  };
}
