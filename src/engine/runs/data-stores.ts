import type { DataStoreRequest } from "../../domain/data-store.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { StoreValues } from "./rehearsed-stores.ts";

/** What a component wants of a data store that it was given. */
export async function answerDataStore({ store }: { readonly store: StoreValues }, request: DataStoreRequest): Promise<JsonValue | undefined> {
  switch (request.operation) {
    case "get":
      return store.getDataStoreValue(request.store, request.key);
    case "has":
      return (await store.getDataStoreValue(request.store, request.key)) !== undefined;
    case "set":
      await store.setDataStoreValue(request.store, request.key, request.value);
      return undefined;
    case "delete":
      await store.deleteDataStoreValue(request.store, request.key);
      return undefined;
    case "keys":
      return (await store.listDataStoreValues(request.store)).map(([key]) => key);
    case "entries":
      return (await store.listDataStoreValues(request.store)).map((entry) => [...entry]);
    case "clear":
      await store.clearDataStore(request.store);
      return undefined;
  }
}
