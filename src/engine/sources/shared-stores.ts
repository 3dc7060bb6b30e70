import type { DataStore } from "../../domain/source/data-store.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { dataStoresOf } from "../../domain/props/declared-props.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import { unreadableBecause } from "../runs/source/unreadable.ts";
import type { HostedSources } from "./hosted-sources.ts";

interface SharedStorePorts {
  readonly store: DataStoreStore;
  readonly clock: Clock;
  /** Slugs of workflows. */
  workflowsWith(name: string): Promise<readonly string[]>;
}

export class SharedStores {
  readonly #ports: SharedStorePorts;
  readonly #sources: HostedSources;

  constructor(ports: SharedStorePorts, sources: HostedSources) {
    this.#ports = ports;
    this.#sources = sources;
  }

  /** Sorted by name. */
  list(): Promise<readonly DataStore[]> {
    return this.#ports.store.listDataStores(this.#ports.clock.now());
  }

  /** Throws PD_NOT_FOUND. */
  async find(name: string): Promise<DataStore> {
    const found = (await this.list()).find((known) => known.name === name);
    if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find data store "${name}"`, { fix: "pd stores list" });
    return found;
  }

  /** Throws PD_CONFLICT when the name is taken. */
  async create(name: string): Promise<DataStore> {
    const { store, clock } = this.#ports;
    if ((await this.list()).some((known) => known.name === name))
      throw new PdError("PD_CONFLICT", `Cannot create data store "${name}": it already exists`, { fix: "pd stores list" });
    await store.createDataStore(name, clock.now());
    return this.find(name);
  }

  /** Throws PD_NOT_FOUND, and PD_CONFLICT when sources or workflows use it, unless `isForced`. */
  async delete(name: string, isForced: boolean): Promise<void> {
    await this.find(name);
    const users = isForced ? [] : [...this.#sourcesWith(name), ...(await this.#ports.workflowsWith(name))];
    if (users.length > 0)
      throw new PdError("PD_CONFLICT", `Cannot delete data store "${name}": used by ${users.join(", ")}`, {
        fix: "Delete these first, or use --force",
      });
    await this.#ports.store.deleteDataStore(name);
  }

  async values(name: string): Promise<Record<string, JsonValue>> {
    const { store, clock } = this.#ports;
    return Object.fromEntries(await store.listDataStoreValues((await this.find(name)).name, clock.now()));
  }

  /** Epoch ms for each key that expires. */
  async expiries(name: string): Promise<Record<string, number>> {
    const { store, clock } = this.#ports;
    return Object.fromEntries(await store.listDataStoreExpiries((await this.find(name)).name, clock.now()));
  }

  /** `ttl` is in seconds. Without it, the value does not expire. */
  async set(name: string, key: string, { value, ttl }: { value: JsonValue; ttl?: number | undefined }): Promise<void> {
    const { store, clock } = this.#ports;
    const now = clock.now();
    await store.setDataStoreValue((await this.find(name)).name, key, { value, now, ...(ttl === undefined ? {} : { expiresAt: now + ttl * 1000 }) });
  }

  /** False when the key was not set. */
  async unset(name: string, key: string): Promise<boolean> {
    return this.#ports.store.deleteDataStoreValue((await this.find(name)).name, key);
  }

  #sourcesWith(name: string): readonly string[] {
    // An unreadable source may use any data store.
    const mayUse = (live: LiveSource): boolean =>
      unreadableBecause(live) !== undefined || dataStoresOf(live.definition.props, live.source.configured).includes(name);
    return [...this.#sources.all()].filter(mayUse).map(({ outline }) => outline.slug);
  }
}
