import { api } from "../../../api/api.ts";
import type { DataStoreRecord } from "../../../api/data-stores.ts";
import type { DataStore } from "../../../domain/source/data-store.ts";
import type { Engine } from "../../../engine/engine.ts";
import { seconds } from "../records.ts";
import { type Route, route } from "../route.ts";

const { dataStores } = api;

export function dataStoreRoutes({ sharedStores: stores }: Engine): readonly Route[] {
  return [
    route(dataStores.list, async () => ({ data: (await stores.list()).map(dataStoreRecord) })),
    route(dataStores.create, async ({ params }) => ({ data: dataStoreRecord(await stores.create(params.name)) })),
    route(dataStores.delete, async ({ params, part }) => {
      await stores.delete(part("name"), params.force === true);
      return { data: { id: part("name"), deleted: true } };
    }),
    route(dataStores.values, async ({ part }) => ({ data: await stores.values(part("name")) })),
    route(dataStores.expiries, async ({ part }) => ({ data: await stores.expiries(part("name")) })),
    route(dataStores.set, async ({ params, part }) => {
      await stores.set(part("name"), part("key"), params);
      return { data: { key: part("key"), value: params.value } };
    }),
    route(dataStores.unset, async ({ part }) => ({ data: { key: part("key"), deleted: await stores.unset(part("name"), part("key")) } })),
  ];
}

function dataStoreRecord({ name, keyCount, createdAt }: DataStore): DataStoreRecord {
  return { id: name, name, key_count: keyCount, created_at: seconds(createdAt) };
}
