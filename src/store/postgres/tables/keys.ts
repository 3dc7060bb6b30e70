import { PdError } from "../../../domain/errors.ts";
import type { KeyStore } from "../../../ports/stores/key-store.ts";
import { apiKeyOf } from "../../rows/rows.ts";
import { unlessTaken } from "../connection/errors.ts";
import type { Database } from "../connection/sql.ts";

export function keyTable(db: Database): KeyStore {
  return {
    async saveKey({ id, name, hash, isReadOnly, createdAt }) {
      const write = db.run("insert into api_keys (id, name, hash, read_only, created_at) values ($1, $2, $3, $4, $5)", id, name, hash, isReadOnly, createdAt);
      await unlessTaken(write, "api_keys_name_key", () => new PdError("PD_CONFLICT", `Cannot create a key named ${JSON.stringify(name)}: it already exists`));
    },
    deleteKey: async (idOrName) => (await db.run("delete from api_keys where id = $1 or name = $1", idOrName)).count > 0,
    listKeys: async () => (await db.all("select * from api_keys order by created_at desc, seq desc")).map(apiKeyOf),
    async findKey(hash) {
      const found = await db.first("select * from api_keys where hash = $1", hash);
      return found === undefined ? undefined : apiKeyOf(found);
    },
  };
}
