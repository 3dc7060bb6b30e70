import type { Account, AccountContent } from "../../../domain/account/account.ts";
import { PdError } from "../../../domain/errors.ts";
import type { AccountId } from "../../../domain/ids.ts";
import type { AccountStore } from "../../../ports/stores/account-store.ts";
import type { Database } from "../../../database/driver.ts";
import { accountOf, row, rows } from "../../rows/rows.ts";

export interface AccountWrites {
  saveAccount(account: AccountContent): void;
  replaceAccount(before: Pick<Account, "id" | "revision">, after: AccountContent): boolean;
  deleteAccount(id: AccountId): void;
}

const INSERT = "insert into accounts (id, app, name, credentials, oauth, problem, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)";
const REPLACE = `update accounts set app = ?, name = ?, credentials = ?, oauth = ?, problem = ?, updated_at = ?, revision = revision + 1
  where id = ? and revision = ?`;

export function accountWrites(db: Database): AccountWrites {
  const insert = db.prepare(INSERT);
  const replace = db.prepare(REPLACE);
  const namesake = db.prepare("select 1 from accounts where app = ? and name = ? and id <> ?");
  const remove = db.prepare("delete from accounts where id = ?");
  const checkName = ({ id, app, name }: AccountContent): void => {
    if (row(namesake.get(app, name, id)) !== undefined)
      throw new PdError("PD_CONFLICT", `Cannot store an account of ${app} as ${JSON.stringify(name)}: another account has this name`);
  };
  return {
    saveAccount(account) {
      checkName(account);
      insert.run(account.id, ...contentOf(account), account.createdAt, account.updatedAt);
    },
    replaceAccount({ id, revision }, after) {
      checkName(after);
      return replace.run(...contentOf(after), after.updatedAt, id, revision).changes > 0;
    },
    deleteAccount: (id) => void remove.run(id),
  };
}

function contentOf({ app, name, credentials, oauth, problem }: AccountContent): (string | null)[] {
  return [app, name, JSON.stringify(credentials), oauth === undefined ? null : JSON.stringify(oauth), problem ?? null];
}

export function accountReads(db: Database): Pick<AccountStore, "getAccount" | "listAccounts"> {
  const one = db.prepare("select * from accounts where id = ?");
  const all = db.prepare("select * from accounts order by app, name");
  return {
    async getAccount(id) {
      const found = row(one.get(id));
      return found === undefined ? undefined : accountOf(found);
    },
    listAccounts: async () => rows(all.all()).map(accountOf),
  };
}
