import { PdError } from "../../../domain/errors.ts";
import type { RegistryStore } from "../../../ports/stores/registry-store.ts";
import { registryOf } from "../../rows/rows.ts";
import { unlessTaken } from "../connection/errors.ts";
import type { Database } from "../connection/sql.ts";

const INSERT = `insert into registries (name, kind, location, position)
  select $1, $2, $3, coalesce((select max(position) from registries), 0) + 1`;

export function registryTable(db: Database): RegistryStore {
  return {
    listRegistries: async () => (await db.all("select name, kind, location from registries order by position")).map(registryOf),
    async saveRegistry({ name, kind, location }) {
      const taken = (): PdError => new PdError("PD_CONFLICT", `Cannot add registry "${name}": the name is in use; choose another with --name`);
      await unlessTaken(db.run(INSERT, name, kind, location), "registries_pkey", taken);
    },
    deleteRegistry: async (name) => (await db.run("delete from registries where name = $1", name)).count > 0,
  };
}
