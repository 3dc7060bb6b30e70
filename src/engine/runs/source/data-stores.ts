import { type DataStoreRequest, expiryOf } from "../../../domain/source/data-store.ts";
import type { JsonValue } from "../../../domain/text/json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { StoreValues } from "./rehearsed-stores.ts";

export async function answerDataStore(
  { store, clock }: { readonly store: StoreValues; readonly clock: Pick<Clock, "now"> },
  request: DataStoreRequest,
): Promise<JsonValue | undefined> {
  const now = clock.now();
  switch (request.operation) {
    case "get":
      return store.getDataStoreValue(request.store, request.key, now);
    case "has":
      return (await store.getDataStoreValue(request.store, request.key, now)) !== undefined;
    case "set":
      await store.setDataStoreValue(request.store, request.key, { value: request.value, ...expiryOf(request.ttl, now), now });
      return undefined;
    case "set-ttl":
      await store.setDataStoreExpiry(request.store, request.key, expiryOf(request.ttl, now).expiresAt);
      return undefined;
    case "delete":
      await store.deleteDataStoreValue(request.store, request.key);
      return undefined;
    case "keys":
      return (await store.listDataStoreValues(request.store, now)).map(([key]) => key);
    case "entries":
      return (await store.listDataStoreValues(request.store, now)).map((entry) => [...entry]);
    case "clear":
      await store.clearDataStore(request.store);
      return undefined;
  }
}
