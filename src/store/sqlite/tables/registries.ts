import type { RegistryStore } from "../../../ports/stores/registry-store.ts";
import { PdError } from "../../../domain/errors.ts";
import type { Registry } from "../../../domain/component/registry.ts";
import type { Database } from "../../../database/driver.ts";
import { registryOf, rows } from "../../rows/rows.ts";

export interface RegistryWrites {
  saveRegistry(registry: Registry): void;
  deleteRegistry(name: string): boolean;
}

const INSERT = `insert into registries (name, kind, location, position)
  select ?, ?, ?, coalesce((select max(position) from registries), 0) + 1`;

export function registryWrites(db: Database): RegistryWrites {
  const taken = db.prepare("select 1 from registries where name = ?");
  const insert = db.prepare(INSERT);
  const remove = db.prepare("delete from registries where name = ?");
  return {
    saveRegistry({ name, kind, location }) {
      if (taken.get(name) !== undefined) throw new PdError("PD_CONFLICT", `Cannot add registry "${name}": the name is in use; choose another with --name`);
      insert.run(name, kind, location);
    },
    deleteRegistry: (name) => remove.run(name).changes > 0,
  };
}

type RegistryReads = Pick<RegistryStore, "listRegistries">;

export function registryReads(db: Database): RegistryReads {
  const list = db.prepare("select name, kind, location from registries order by position");
  return { listRegistries: async () => rows(list.all()).map(registryOf) };
}
