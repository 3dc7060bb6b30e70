import type { ComponentRegistry } from "../../ports/component-registry.ts";
import type { Log } from "../../ports/log.ts";
import type { RegistryStore } from "../../ports/stores/registry-store.ts";
import { didYouMean } from "../../domain/text/did-you-mean.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type IndexedComponent, type Registry, type RegistryComponent, appOfKey, isAppSlug, isKey, searchIndex } from "../../domain/component/registry.ts";
import { appCatalog } from "../../domain/account/app-catalog.ts";
import { type AppTopics, appsAbout } from "../../domain/component/app-search.ts";
import { Turns } from "../../domain/source/turns.ts";

/** Each is a package to fetch. */
const MOST_GUESSED = 4;

export interface RegistryPorts {
  readonly store: RegistryStore;
  readonly registry: ComponentRegistry;
  readonly log: Log;
}

export interface LookedRegistry {
  readonly registry: Registry;
  readonly problem: string | undefined;
}

export class Registries {
  readonly #ports: RegistryPorts;
  readonly #adding = new Map<string, Registry>();
  /** A name is free only when everything fetched under it is deleted. */
  readonly #turns = new Turns();

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
  }

  list(): Promise<readonly Registry[]> {
    return this.#ports.store.listRegistries();
  }

  async looked(): Promise<readonly LookedRegistry[]> {
    return Promise.all((await this.list()).map(async (registry) => ({ registry, problem: await this.#problemOf(registry) })));
  }

  async #problemOf(registry: Registry): Promise<string | undefined> {
    return this.#ports.registry.problem(registry).catch((error: unknown) => messageOf(error));
  }

  /** Throws PD_CONFLICT, PD_BAD_INPUT, PD_FILE_NOT_FOUND, PD_REGISTRY_UNREACHABLE, having added nothing. */
  async add(registry: Registry): Promise<{ registry: Registry; count: number }> {
    const checked = await this.#ports.registry.check(registry);
    // Fetched files are stored under the name.
    await this.#turns.take(async () => {
      await this.#ports.store.saveRegistry(checked);
      try {
        // An earlier registry of this name may have left files while it was being removed.
        await this.#ports.registry.forget(checked);
      } catch (error) {
        await this.#ports.store.deleteRegistry(checked.name);
        throw error;
      }
      this.#adding.set(checked.name, checked);
    });
    try {
      await this.#ports.registry.update(checked);
      return { registry: checked, count: (await this.#ports.registry.index(checked)).length };
    } catch (error) {
      // It may have been removed, and another one added under its name.
      if (this.#adding.get(checked.name) === checked) await this.remove(checked.name);
      throw error;
    } finally {
      if (this.#adding.get(checked.name) === checked) this.#adding.delete(checked.name);
    }
  }

  async remove(name: string): Promise<void> {
    return this.#turns.take(async () => {
      const registry = await this.#named(name);
      this.#adding.delete(name);
      await this.#ports.store.deleteRegistry(name);
      await this.#ports.registry.forget(registry);
    });
  }

  /** Without `app`, updates everything that was fetched. A registry that fails does not stop the others. */
  async update(name: string | undefined, app: string | undefined): Promise<readonly Registry[]> {
    const registries = name === undefined ? await this.list() : [await this.#named(name)];
    const results = await Promise.allSettled(registries.map((registry) => this.#ports.registry.update(registry, app)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return registries;
  }

  /** The first registry that has the key wins. Throws PD_COMPONENT_NOT_FOUND. */
  async find(key: string, only?: string): Promise<RegistryComponent> {
    const registries = only === undefined ? await this.list() : [await this.#named(only)];
    let failure: unknown;
    for (const registry of isKey(key) ? registries : []) {
      try {
        const found = await this.#ports.registry.find(registry, key);
        if (found !== undefined) return found;
      } catch (error) {
        // Unusable code is an answer. An unreadable registry is skipped.
        if (error instanceof PdError && error.code === "PD_BUILD_FAILED") throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    const names = registries.map(({ name }) => name).join(", ");
    const known = (await this.index()).map((component) => component.key);
    throw new PdError(
      "PD_COMPONENT_NOT_FOUND",
      `Cannot find component "${key}": no saved component and no registry (${names || "none"}) has this id or key${didYouMean(key, known)}`,
      {
        fix: `Find others with pd registry search ${appOfKey(key)}. For one in a checkout or Git repository, first use pd registry add <folder or Git address>`,
      },
    );
  }

  /**
   * Best match first. Fetches the missing app that the query starts with, and when nothing matches, the apps that its
   * words are about. Throws PD_REGISTRY_UNREACHABLE when that fails and nothing else matches.
   */
  async search(query: string): Promise<readonly IndexedComponent[]> {
    const found = searchIndex(await this.index(), query);
    const [app = ""] = query.toLowerCase().split(/\s+/);
    if (found.some(({ key }) => appOfKey(key) === app)) return found;
    try {
      const isHere = isAppSlug(app) && (await this.#prepare(app));
      const others = isHere || found.length > 0 ? [] : appsAbout(query, await this.#topics()).slice(0, MOST_GUESSED);
      const guessed = await Promise.all(others.map((other) => this.#prepare(other)));
      return isHere || guessed.includes(true) ? searchIndex(await this.index(), query) : found;
    } catch (error) {
      if (found.length === 0) throw error;
    }
    return found;
  }

  /** False when no registry has the app. */
  async #prepare(app: string): Promise<boolean> {
    for (const registry of await this.list()) if (await this.#ports.registry.prepare(registry, app)) return true;
    return false;
  }

  async #topics(): Promise<readonly AppTopics[]> {
    return [...(await appCatalog())].map(([slug, { name, topics }]) => ({ slug, name, topics }));
  }

  async index(): Promise<readonly IndexedComponent[]> {
    const byKey = new Map<string, IndexedComponent>();
    for (const registry of await this.list()) for (const entry of await this.#indexOf(registry)) if (!byKey.has(entry.key)) byKey.set(entry.key, entry);
    return [...byKey.values()];
  }

  async #indexOf(registry: Registry): Promise<readonly IndexedComponent[]> {
    try {
      return await this.#ports.registry.index(registry);
    } catch (error) {
      this.#ports.log.warn("a registry cannot be read", { registry: registry.name, reason: error instanceof Error ? error.message : String(error) });
      return [];
    }
  }

  async #named(name: string): Promise<Registry> {
    const all = await this.list();
    const found = all.find((registry) => registry.name === name);
    if (found !== undefined) return found;
    throw new PdError("PD_NOT_FOUND", `Cannot find registry "${name}": the registries are ${all.map((registry) => registry.name).join(", ") || "none"}`, {
      fix: "pd registry list",
    });
  }
}
