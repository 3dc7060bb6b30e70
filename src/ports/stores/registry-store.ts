import type { Registry } from "../../domain/component/registry.ts";

export interface RegistryStore {
  /** In search order. */
  listRegistries(): Promise<readonly Registry[]>;
  /** Appends to the order. Throws PD_CONFLICT when the name is taken. */
  saveRegistry(registry: Registry): Promise<void>;
  /** False when it does not exist. */
  deleteRegistry(name: string): Promise<boolean>;
}
