import type { JsonValue } from "../../domain/json.ts";
import type { DataStoreStore } from "../../ports/data-store-store.ts";

export type StoreValues = Pick<DataStoreStore, "getDataStoreValue" | "setDataStoreValue" | "deleteDataStoreValue" | "listDataStoreValues" | "clearDataStore">;

/** Data stores as they are, with what is written here laid over them: nothing of it reaches the real ones. */
export class RehearsedStores implements StoreValues {
  readonly #real: StoreValues;
  /** Store → its values, from the first time that it is written. */
  readonly #copies = new Map<string, Map<string, JsonValue>>();

  constructor(real: StoreValues) {
    this.#real = real;
  }

  async getDataStoreValue(store: string, key: string): Promise<JsonValue | undefined> {
    const copy = this.#copies.get(store);
    return copy === undefined ? this.#real.getDataStoreValue(store, key) : copy.get(key);
  }

  async listDataStoreValues(store: string): Promise<readonly (readonly [string, JsonValue])[]> {
    const copy = this.#copies.get(store);
    return copy === undefined ? this.#real.listDataStoreValues(store) : [...copy].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  async setDataStoreValue(store: string, key: string, value: JsonValue): Promise<void> {
    (await this.#copyOf(store)).set(key, value);
  }

  async deleteDataStoreValue(store: string, key: string): Promise<boolean> {
    return (await this.#copyOf(store)).delete(key);
  }

  async clearDataStore(store: string): Promise<void> {
    (await this.#copyOf(store)).clear();
  }

  async #copyOf(store: string): Promise<Map<string, JsonValue>> {
    const values = await this.#real.listDataStoreValues(store);
    // Two writes at once share the copy that is made first.
    const copy = this.#copies.get(store) ?? new Map(values);
    this.#copies.set(store, copy);
    return copy;
  }
}
