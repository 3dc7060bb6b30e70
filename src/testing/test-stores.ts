import type { DataStoreRequest } from "../domain/data-store.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";

/** Data stores of one component under test. */
export class TestStores {
  readonly #stores = new Map<string, Map<string, JsonValue>>();

  get values(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#stores].map(([name, values]) => [name, Object.fromEntries(values)]));
  }

  answer(request: DataStoreRequest): JsonValue | undefined {
    const values = this.#stores.get(request.store) ?? new Map<string, JsonValue>();
    this.#stores.set(request.store, values);
    switch (request.operation) {
      case "get":
        return values.get(request.key);
      case "has":
        return values.has(request.key);
      case "delete":
        return values.delete(request.key);
      case "set":
        values.set(request.key, request.value);
        return undefined;
      case "keys":
        return [...values.keys()];
      case "entries":
        return [...values].map(([key, value]) => [key, value]);
      case "clear":
        values.clear();
        return undefined;
    }
  }
}
