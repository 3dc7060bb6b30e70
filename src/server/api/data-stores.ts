import { z } from "zod";
import type { DataStore } from "../../domain/data-store.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/data-store-store.ts";
import { flag, jsonValue } from "./params.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

export interface DataStoreDoor {
  readonly store: DataStoreStore;
  readonly clock: Clock;
  /** Slugs of the sources that were given it. */
  readonly usersOf: (name: string) => readonly string[];
}

/** Key-value stores that components share (platform.md §4.7). */
export function dataStoreRoutes({ store, clock, usersOf }: DataStoreDoor): readonly Route[] {
  const tag = "Data stores";
  const find = async (name: string): Promise<DataStore> => {
    const found = (await store.listDataStores()).find((known) => known.name === name);
    if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find data store "${name}"`, { fix: "pd stores list" });
    return found;
  };
  return [
    route({
      method: "get",
      path: "/v1/data_stores",
      tag,
      summary: "Lists data stores by name",
      answer: schemas.many(schemas.dataStore),
      run: async () => ({ data: (await store.listDataStores()).map(dataStoreRecord) }),
    }),
    route({
      method: "post",
      path: "/v1/data_stores",
      tag,
      summary: "Makes a data store; there must be none of this name",
      params: z.object({ name: z.string().min(1) }),
      answer: schemas.one(schemas.dataStore),
      async run({ params }) {
        if ((await store.listDataStores()).some(({ name }) => name === params.name))
          throw new PdError("PD_CONFLICT", `Cannot make data store "${params.name}": there is one of this name`, { fix: "pd stores list" });
        await store.createDataStore(params.name, clock.now());
        return { data: dataStoreRecord(await find(params.name)) };
      },
    }),
    route({
      method: "delete",
      path: "/v1/data_stores/{name}",
      tag,
      summary: "Deletes a data store with its values; with force also one that a source uses",
      params: z.object({ force: flag.default(false) }),
      answer: schemas.one(schemas.deleted),
      async run({ params, part }) {
        const { name } = await find(part("name"));
        const users = usersOf(name);
        if (users.length > 0 && !params.force)
          throw new PdError("PD_CONFLICT", `Cannot delete data store "${name}": ${users.join(", ")} would lose it`, {
            fix: "Delete those first, or give --force",
          });
        await store.deleteDataStore(name);
        return { data: { id: part("name"), deleted: true } };
      },
    }),
    route({
      method: "get",
      path: "/v1/data_stores/{name}/values",
      tag,
      summary: "All values of a data store, by key",
      answer: schemas.one(schemas.state),
      run: async ({ part }) => ({ data: Object.fromEntries(await store.listDataStoreValues((await find(part("name"))).name)) }),
    }),
    route({
      method: "put",
      path: "/v1/data_stores/{name}/values/{key}",
      tag,
      summary: "Sets a value",
      params: z.object({ value: jsonValue }),
      answer: schemas.one(schemas.stateEntry),
      async run({ params, part }) {
        await store.setDataStoreValue((await find(part("name"))).name, part("key"), params.value);
        return { data: { key: part("key"), value: params.value } };
      },
    }),
    route({
      method: "delete",
      path: "/v1/data_stores/{name}/values/{key}",
      tag,
      summary: "Deletes a value",
      answer: schemas.one(schemas.stateDeleted),
      run: async ({ part }) => ({ data: { key: part("key"), deleted: await store.deleteDataStoreValue((await find(part("name"))).name, part("key")) } }),
    }),
  ];
}

function dataStoreRecord({ name, keyCount, createdAt }: DataStore): JsonObject {
  return { id: name, name, key_count: keyCount, created_at: Math.floor(createdAt / 1000) };
}
