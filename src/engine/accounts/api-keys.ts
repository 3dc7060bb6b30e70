import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiKey, KeyStore } from "../../ports/key-store.ts";

interface ApiKeyPorts {
  readonly store: KeyStore;
  readonly clock: Clock;
}

/** Named keys of those who may call the API. Only their hashes are known here. */
export class ApiKeys {
  readonly #ports: ApiKeyPorts;

  constructor(ports: ApiKeyPorts) {
    this.#ports = ports;
  }

  /** Newest first. */
  list(): Promise<readonly ApiKey[]> {
    return this.#ports.store.listKeys();
  }

  /** Makes a key, which is shown this once. Throws PD_CONFLICT when the name is taken. */
  async create({ name, isReadOnly }: Pick<ApiKey, "name" | "isReadOnly">, hashOf: (key: string) => string): Promise<{ made: ApiKey; key: string }> {
    const { clock, store } = this.#ports;
    const key = clock.randomText(32).toLowerCase();
    const made: ApiKey = { id: `key_${clock.randomText(7)}`, name, hash: hashOf(key), isReadOnly, createdAt: clock.now() };
    await store.saveKey(made);
    return { made, key };
  }

  /** By id or name. Throws PD_NOT_FOUND. */
  async revoke(idOrName: string): Promise<void> {
    if (await this.#ports.store.deleteKey(idOrName)) return;
    throw new PdError("PD_NOT_FOUND", `Cannot revoke key "${idOrName}": none has this id or name`, { fix: "pd keys list" });
  }

  find(hash: string): Promise<ApiKey | undefined> {
    return this.#ports.store.findKey(hash);
  }
}
