import type { IndexedComponent, Registry, RegistryComponent } from "../domain/component/registry.ts";

export interface ComponentRegistry {
  /**
   * Fetches what is missing. Undefined when the registry does not have the key. Throws PD_REGISTRY_UNREACHABLE, and
   * PD_BUILD_FAILED for unreadable code.
   */
  find(registry: Registry, key: string): Promise<RegistryComponent | undefined>;
  /** Needs no network. Throws PD_FILE_NOT_FOUND when a folder is gone. */
  index(registry: Registry): Promise<readonly IndexedComponent[]>;
  /** Undefined when the registry can be read, or is fetched on demand. */
  problem(registry: Registry): Promise<string | undefined>;
  /** Fetches what is missing. False when the registry does not have the app. Throws PD_REGISTRY_UNREACHABLE. */
  prepare(registry: Registry, app: string): Promise<boolean>;
  /** Fetches the newest of one app, or of everything that is here. Throws PD_REGISTRY_UNREACHABLE, and PD_COMPONENT_NOT_FOUND for an unknown app. */
  update(registry: Registry, app?: string): Promise<void>;
  /** Returns the form to save. Throws PD_BAD_INPUT for an invalid location, PD_FILE_NOT_FOUND for a missing folder. */
  check(registry: Registry): Promise<Registry>;
  forget(registry: Registry): Promise<void>;
}
