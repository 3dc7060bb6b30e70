import type { AccountContent } from "../../../domain/account/account.ts";
import { PdError } from "../../../domain/errors.ts";
import type { AccountStore } from "../../../ports/stores/account-store.ts";
import { accountOf } from "../../rows/rows.ts";
import { unlessTaken } from "../connection/errors.ts";
import type { Database } from "../connection/sql.ts";

const INSERT = "insert into accounts (id, app, name, credentials, oauth, problem, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8)";
const REPLACE = `update accounts set app = $2, name = $3, credentials = $4, oauth = $5, problem = $6, updated_at = $7, revision = revision + 1
  where id = $1 and revision = $8`;

export function accountTable(db: Database): AccountStore {
  return {
    async saveAccount(account) {
      const write = db.run(INSERT, account.id, ...contentOf(account), account.createdAt, account.updatedAt);
      await unlessTaken(write, "accounts_app_name_key", () => nameTaken(account));
    },
    async replaceAccount({ id, revision }, after) {
      const write = db.run(REPLACE, id, ...contentOf(after), after.updatedAt, revision);
      return (await unlessTaken(write, "accounts_app_name_key", () => nameTaken(after))).count > 0;
    },
    async getAccount(id) {
      const found = await db.first("select * from accounts where id = $1", id);
      return found === undefined ? undefined : accountOf(found);
    },
    listAccounts: async () => (await db.all("select * from accounts order by app, name")).map(accountOf),
    async deleteAccount(id) {
      await db.run("delete from accounts where id = $1", id);
    },
  };
}

function contentOf({ app, name, credentials, oauth, problem }: AccountContent): readonly (string | null)[] {
  return [app, name, JSON.stringify(credentials), oauth === undefined ? null : JSON.stringify(oauth), problem ?? null];
}

function nameTaken({ app, name }: AccountContent): PdError {
  return new PdError("PD_CONFLICT", `Cannot store an account of ${app} as ${JSON.stringify(name)}: another account has this name`);
}
