import type { DataStoreRequest } from "../domain/data-store.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ConfiguredProps } from "../domain/prop.ts";
import type { EnginePorts } from "./ports.ts";

/** What a component wants of a data store; it reaches those alone that it was configured with. */
export async function answerDataStore(
  { store }: Pick<EnginePorts, "store">,
  configured: ConfiguredProps,
  request: DataStoreRequest,
): Promise<JsonValue | undefined> {
  if (!Object.values(configured).includes(request.store))
    throw new PdError("PD_NOT_FOUND", `Cannot use the data store "${request.store}": the component was not given it`);
  switch (request.operation) {
    case "get":
      return store.getDataStoreValue(request.store, request.key);
    case "has":
      return store.getDataStoreValue(request.store, request.key) !== undefined;
    case "set":
      await store.setDataStoreValue(request.store, request.key, request.value);
      return undefined;
    case "delete":
      await store.deleteDataStoreValue(request.store, request.key);
      return undefined;
    case "keys":
      return store.listDataStoreValues(request.store).map(([key]) => key);
    case "entries":
      return store.listDataStoreValues(request.store).map((entry) => [...entry]);
    case "clear":
      await store.clearDataStore(request.store);
      return undefined;
  }
}
