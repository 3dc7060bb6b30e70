import { type DataStoreRequest, type DataStoreValue, expiryOf, isThere } from "../domain/source/data-store.ts";
import type { JsonObject, JsonValue } from "../domain/text/json.ts";

export class TestStores {
  readonly #stores = new Map<string, Map<string, DataStoreValue>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get values(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#stores.keys()].map((name) => [name, Object.fromEntries(this.#there(name))]));
  }

  answer(request: DataStoreRequest): JsonValue | undefined {
    const values = this.#stores.get(request.store) ?? new Map<string, DataStoreValue>();
    this.#stores.set(request.store, values);
    const there = new Map(this.#there(request.store));
    switch (request.operation) {
      case "get":
        return there.get(request.key);
      case "has":
        return there.has(request.key);
      case "delete":
        return values.delete(request.key);
      case "set":
        values.set(request.key, { value: request.value, ...expiryOf(request.ttl, this.#now()) });
        return undefined;
      case "set-ttl": {
        const kept = values.get(request.key);
        if (kept !== undefined) values.set(request.key, { value: kept.value, ...expiryOf(request.ttl, this.#now()) });
        return undefined;
      }
      case "keys":
        return [...there.keys()];
      case "entries":
        return [...there].map(([key, value]) => [key, value]);
      case "clear":
        values.clear();
        return undefined;
    }
  }

  #there(store: string): [string, JsonValue][] {
    const values = [...(this.#stores.get(store) ?? [])].filter(([, kept]) => isThere(kept, this.#now()));
    return values.map(([key, { value }]) => [key, value]);
  }
}
