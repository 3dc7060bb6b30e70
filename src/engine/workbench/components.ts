import { didYouMean } from "../../domain/text/did-you-mean.ts";
import { PdError } from "../../domain/errors.ts";
import { isSavedId } from "../../domain/ids.ts";
import { type IndexedComponent, searchIndex } from "../../domain/component/registry.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { CodeInput } from "../code/build-component.ts";
import type { Registries } from "../code/registries.ts";
import type { Workbench } from "./workbench.ts";

interface ComponentPorts {
  readonly store: ComponentStore;
  readonly clock: Clock;
  readonly workbench: Workbench;
  readonly registries: Registries;
}

export class Components {
  readonly #ports: ComponentPorts;

  constructor(ports: ComponentPorts) {
    this.#ports = ports;
  }

  list(): Promise<readonly SavedComponent[]> {
    return this.#ports.store.listComponents();
  }

  /** Throws PD_COMPONENT_NOT_FOUND. */
  async find(idOrKey: string): Promise<SavedComponent> {
    const found = await (isSavedId(idOrKey) ? this.#ports.store.getComponent(idOrKey) : this.ofKey(idOrKey));
    if (found !== undefined) return found;
    const keys = (await this.list()).flatMap(({ definition: { key } }) => key ?? []);
    throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot use component "${idOrKey}": none has this id or key${didYouMean(idOrKey, keys)}`);
  }

  ofKey(key: string): Promise<SavedComponent | undefined> {
    return this.#ports.store.getComponentByKey(key);
  }

  /** Falls back to the registries. Throws PD_COMPONENT_NOT_FOUND. */
  async describe(key: string): Promise<SavedComponent> {
    return (await this.ofKey(key)) ?? this.#ports.workbench.describe({ code: { kind: "key", key }, env: {} });
  }

  /** Best match first. */
  async search(query: string): Promise<readonly IndexedComponent[]> {
    const own = (await this.list()).flatMap(({ definition, code, isTransient }): IndexedComponent[] => {
      const { key, name, description = "", version, type } = definition;
      return key === undefined || type === "app" || type === "workflow" || isTransient
        ? []
        : [{ key, name, description, version, type, registry: "", path: code.path }];
    });
    // The newest entry comes first and wins.
    const unique = [...new Map(own.toReversed().map((entry) => [entry.key, entry])).values()];
    const known = new Set(unique.map(({ key }) => key));
    const published = searchIndex(unique, query);
    const others = await this.#ports.registries.search(query).catch((error: unknown) => {
      // What is published here can be found without a network.
      if (published.length === 0) throw error;
      return [];
    });
    return [...published, ...others.filter(({ key }) => !known.has(key))];
  }

  async save(input: CodeInput): Promise<SavedComponent> {
    const saved = await this.#described(input);
    await this.#ports.store.saveComponent(saved);
    return saved;
  }

  /** Throws PD_BAD_INPUT without a key, PD_CONFLICT when the version is already published. */
  async publish(input: CodeInput): Promise<SavedComponent> {
    const saved = await this.#described(input);
    const { key, name, version } = saved.definition;
    if (key === undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot publish ${name}: it has no key`, { fix: 'Add one: key: "my_app-my-component"', details: {} });
    const isNew = await this.#ports.store.publishComponent(saved);
    if (!isNew) throw new PdError("PD_CONFLICT", `Cannot publish ${key}: version ${version} is already published`, { fix: "Increase the version" });
    return saved;
  }

  /** Deletes one component by id, or the versions of a key. Throws PD_COMPONENT_NOT_FOUND. */
  async unpublish(idOrKey: string, version: string | undefined): Promise<void> {
    const isMeant = ({ id, definition }: SavedComponent): boolean =>
      id === idOrKey || (definition.key === idOrKey && (version === undefined || definition.version === version));
    const found = (await this.list()).filter((known) => !known.isTransient && isMeant(known));
    if (found.length === 0) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot unpublish "${idOrKey}": no published component has this id or key`);
    for (const { id } of found) await this.#ports.store.unpublishComponent(id);
  }

  async #described(input: CodeInput): Promise<SavedComponent> {
    const { workbench, clock } = this.#ports;
    const component = await workbench.describe({ code: input, env: {} });
    return { ...component, id: `sc_${clock.randomText(7)}`, isTransient: false, createdAt: clock.now() };
  }
}
