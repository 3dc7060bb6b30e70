import { api } from "../../api/api.ts";
import type { DataStoreRecord } from "../../api/data-stores.ts";
import type { DataStore } from "../../domain/data-store.ts";
import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/data-store-store.ts";
import { seconds } from "./records.ts";
import { type Route, route } from "./route.ts";

const { dataStores } = api;

export interface DataStoreDoor {
  readonly store: DataStoreStore;
  readonly clock: Clock;
  /** Slugs of the sources that were given it. */
  readonly usersOf: (name: string) => readonly string[];
}

/** Key-value stores that components share (platform.md §4.7). */
export function dataStoreRoutes({ store, clock, usersOf }: DataStoreDoor): readonly Route[] {
  const find = async (name: string): Promise<DataStore> => {
    const found = (await store.listDataStores()).find((known) => known.name === name);
    if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find data store "${name}"`, { fix: "pd stores list" });
    return found;
  };
  return [
    route(dataStores.list, async () => ({ data: (await store.listDataStores()).map(dataStoreRecord) })),
    route(dataStores.create, async ({ params }) => {
      if ((await store.listDataStores()).some(({ name }) => name === params.name))
        throw new PdError("PD_CONFLICT", `Cannot make data store "${params.name}": there is one of this name`, { fix: "pd stores list" });
      await store.createDataStore(params.name, clock.now());
      return { data: dataStoreRecord(await find(params.name)) };
    }),
    route(dataStores.delete, async ({ params, part }) => {
      const { name } = await find(part("name"));
      const users = usersOf(name);
      if (users.length > 0 && !params.force)
        throw new PdError("PD_CONFLICT", `Cannot delete data store "${name}": ${users.join(", ")} would lose it`, {
          fix: "Delete those first, or give --force",
        });
      await store.deleteDataStore(name);
      return { data: { id: part("name"), deleted: true } };
    }),
    route(dataStores.values, async ({ part }) => ({ data: Object.fromEntries(await store.listDataStoreValues((await find(part("name"))).name)) })),
    route(dataStores.set, async ({ params, part }) => {
      await store.setDataStoreValue((await find(part("name"))).name, part("key"), params.value);
      return { data: { key: part("key"), value: params.value } };
    }),
    route(dataStores.unset, async ({ part }) => ({
      data: { key: part("key"), deleted: await store.deleteDataStoreValue((await find(part("name"))).name, part("key")) },
    })),
  ];
}

function dataStoreRecord({ name, keyCount, createdAt }: DataStore): DataStoreRecord {
  return { id: name, name, key_count: keyCount, created_at: seconds(createdAt) };
}
