import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiKey, KeyStore } from "../../ports/stores/key-store.ts";

interface ApiKeyPorts {
  readonly store: KeyStore;
  readonly clock: Clock;
}

/** Only hashes of keys are stored. */
export class ApiKeys {
  readonly #ports: ApiKeyPorts;
  /** Hash of a used key → ends its streams. */
  readonly #uses = new Map<string, AbortController>();

  constructor(ports: ApiKeyPorts) {
    this.#ports = ports;
  }

  list(): Promise<readonly ApiKey[]> {
    return this.#ports.store.listKeys();
  }

  /** `key` is shown only once. Throws PD_CONFLICT. */
  async create({ name, isReadOnly }: Pick<ApiKey, "name" | "isReadOnly">, hashOf: (key: string) => string): Promise<{ made: ApiKey; key: string }> {
    const { clock, store } = this.#ports;
    const key = clock.randomText(32).toLowerCase();
    const made: ApiKey = { id: `key_${clock.randomText(7)}`, name, hash: hashOf(key), isReadOnly, createdAt: clock.now() };
    await store.saveKey(made);
    return { made, key };
  }

  /** Ends the key's streams. Throws PD_NOT_FOUND. */
  async revoke(idOrName: string): Promise<void> {
    const { store } = this.#ports;
    const revoked = (await store.listKeys()).find(({ id, name }) => id === idOrName || name === idOrName);
    const isDeleted = await store.deleteKey(idOrName);
    if (revoked !== undefined) this.#end(revoked.hash);
    if (isDeleted) return;
    throw new PdError("PD_NOT_FOUND", `Cannot revoke key "${idOrName}": none has this id or name`, { fix: "pd keys list" });
  }

  async find(hash: string): Promise<(ApiKey & { readonly revoked: AbortSignal }) | undefined> {
    // Before the lookup, because the key may be revoked during it.
    const { signal } = this.#useOf(hash);
    const found = await this.#ports.store.findKey(hash);
    if (found !== undefined) return { ...found, revoked: signal };
    this.#end(hash);
    return undefined;
  }

  #useOf(hash: string): AbortController {
    const known = this.#uses.get(hash);
    if (known !== undefined) return known;
    const use = new AbortController();
    this.#uses.set(hash, use);
    return use;
  }

  #end(hash: string): void {
    this.#uses.get(hash)?.abort();
    this.#uses.delete(hash);
  }
}
