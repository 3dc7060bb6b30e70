import { type DataStoreValue, type NewDataStoreValue, isThere } from "../../../domain/source/data-store.ts";
import type { JsonValue } from "../../../domain/text/json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { DataStoreStore } from "../../../ports/stores/data-store-store.ts";

export type StoreValues = Pick<
  DataStoreStore,
  "getDataStoreValue" | "setDataStoreValue" | "setDataStoreExpiry" | "deleteDataStoreValue" | "listDataStoreValues" | "clearDataStore"
>;

/** Data stores of a dry run. Reads see the real stores, writes go to a copy. */
export class RehearsedStores implements StoreValues {
  readonly #real: StoreValues;
  readonly #clock: Pick<Clock, "now">;
  readonly #copies = new Map<string, Map<string, DataStoreValue>>();

  constructor(real: StoreValues, clock: Pick<Clock, "now">) {
    this.#real = real;
    this.#clock = clock;
  }

  async getDataStoreValue(store: string, key: string, now: number): Promise<JsonValue | undefined> {
    const copy = this.#copies.get(store);
    if (copy === undefined) return this.#real.getDataStoreValue(store, key, now);
    const kept = copy.get(key);
    return kept !== undefined && isThere(kept, now) ? kept.value : undefined;
  }

  async listDataStoreValues(store: string, now: number): Promise<readonly (readonly [string, JsonValue])[]> {
    const copy = this.#copies.get(store);
    if (copy === undefined) return this.#real.listDataStoreValues(store, now);
    const there = [...copy].filter(([, kept]) => isThere(kept, now)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return there.map(([key, { value }]) => [key, value] as const);
  }

  async setDataStoreValue(store: string, key: string, { now: _now, ...given }: NewDataStoreValue): Promise<void> {
    (await this.#copyOf(store)).set(key, given);
  }

  async setDataStoreExpiry(store: string, key: string, expiresAt: number | undefined): Promise<boolean> {
    const copy = await this.#copyOf(store);
    const kept = copy.get(key);
    if (kept !== undefined) copy.set(key, { value: kept.value, ...(expiresAt === undefined ? {} : { expiresAt }) });
    return kept !== undefined;
  }

  async deleteDataStoreValue(store: string, key: string): Promise<boolean> {
    return (await this.#copyOf(store)).delete(key);
  }

  async clearDataStore(store: string): Promise<void> {
    (await this.#copyOf(store)).clear();
  }

  async #copyOf(store: string): Promise<Map<string, DataStoreValue>> {
    const values = await this.#real.listDataStoreValues(store, this.#clock.now());
    // Parallel writes share the first copy. Copied values get no expiry, so they last for the whole dry run.
    const copy = this.#copies.get(store) ?? new Map(values.map(([key, value]): [string, DataStoreValue] => [key, { value }]));
    this.#copies.set(store, copy);
    return copy;
  }
}
