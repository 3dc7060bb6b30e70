import { PdError } from "../../../domain/errors.ts";
import type { ApiKey, KeyStore } from "../../../ports/stores/key-store.ts";
import type { Database } from "../../../database/driver.ts";
import { apiKeyOf, row, rows } from "../../rows/rows.ts";

export interface KeyWrites {
  saveKey(key: ApiKey): void;
  deleteKey(idOrName: string): boolean;
}

export function keyWrites(db: Database): KeyWrites {
  const named = db.prepare("select 1 from api_keys where name = ?");
  const insert = db.prepare("insert into api_keys (id, name, hash, read_only, created_at) values (?, ?, ?, ?, ?)");
  const drop = db.prepare("delete from api_keys where id = ? or name = ?");
  return {
    saveKey({ id, name, hash, isReadOnly, createdAt }) {
      if (row(named.get(name)) !== undefined) throw new PdError("PD_CONFLICT", `Cannot create a key named ${JSON.stringify(name)}: it already exists`);
      insert.run(id, name, hash, isReadOnly ? 1 : 0, createdAt);
    },
    deleteKey: (idOrName) => drop.run(idOrName, idOrName).changes > 0,
  };
}

export function keyReads(db: Database): Pick<KeyStore, "listKeys" | "findKey"> {
  const list = db.prepare("select * from api_keys order by created_at desc, rowid desc");
  const byHash = db.prepare("select * from api_keys where hash = ?");
  return {
    listKeys: async () => rows(list.all()).map(apiKeyOf),
    async findKey(hash) {
      const found = row(byHash.get(hash));
      return found === undefined ? undefined : apiKeyOf(found);
    },
  };
}
