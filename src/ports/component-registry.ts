import type { IndexedComponent, Registry, RegistryComponent } from "../domain/registry.ts";

/** Where components are found by key. */
export interface ComponentRegistry {
  /**
   * Reads the component with this key as it is in the registry now; a package or clone is fetched when it is not here
   * yet. `undefined`: the registry has none. Throws PD_REGISTRY_UNREACHABLE, PD_BUILD_FAILED for code that cannot be read.
   */
  find(registry: Registry, key: string): Promise<RegistryComponent | undefined>;
  /** What is here of a registry, without asking anybody. Throws PD_FILE_NOT_FOUND when a folder is gone. */
  index(registry: Registry): Promise<readonly IndexedComponent[]>;
  /** Why nothing of a registry can be read, such as a folder that is gone; `undefined`: it can, or it is fetched when it is wanted. */
  problem(registry: Registry): Promise<string | undefined>;
  /** Fetches an app's components when they are not here yet; false: the registry has none. Throws PD_REGISTRY_UNREACHABLE. */
  prepare(registry: Registry, app: string): Promise<boolean>;
  /** Fetches the newest of what is here, or of one app. Throws PD_REGISTRY_UNREACHABLE, PD_COMPONENT_NOT_FOUND for an app that it has not. */
  update(registry: Registry, app?: string): Promise<void>;
  /** The registry as it can be added. Throws PD_BAD_INPUT for a location that cannot be one, PD_FILE_NOT_FOUND for a folder that is not there. */
  check(registry: Registry): Promise<Registry>;
  /** Forgets what was fetched of it. */
  forget(registry: Registry): Promise<void>;
}
