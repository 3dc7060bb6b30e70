import type { Registry } from "../domain/registry.ts";

/** The registries that components are found in. */
export interface RegistryStore {
  /** In the order in which they are asked. */
  listRegistries(): Promise<readonly Registry[]>;
  /** The last in the order. Throws PD_CONFLICT when the name is taken. */
  saveRegistry(registry: Registry): Promise<void>;
  /** Resolves to false when there is none. */
  deleteRegistry(name: string): Promise<boolean>;
}
