import type { Account } from "../../domain/account.ts";
import { PdError } from "../../domain/errors.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { AccountStore } from "../../ports/account-store.ts";
import type { Database } from "./open.ts";
import { accountOf, row, rows } from "./rows.ts";

export interface AccountWrites {
  saveAccount(account: Account): void;
  deleteAccount(id: AccountId): void;
}

const SAVE = `insert into accounts (id, app, name, credentials, oauth, problem, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update set app = excluded.app, name = excluded.name, credentials = excluded.credentials, oauth = excluded.oauth,
    problem = excluded.problem, updated_at = excluded.updated_at`;

export function accountWrites(db: Database): AccountWrites {
  const save = db.prepare(SAVE);
  const namesake = db.prepare("select 1 from accounts where app = ? and name = ? and id <> ?");
  const remove = db.prepare("delete from accounts where id = ?");
  return {
    saveAccount({ id, app, name, credentials, oauth, problem, createdAt, updatedAt }) {
      if (row(namesake.get(app, name, id)) !== undefined)
        throw new PdError("PD_CONFLICT", `Cannot keep an account of ${app} as ${JSON.stringify(name)}: another has this name`);
      save.run(id, app, name, JSON.stringify(credentials), oauth === undefined ? null : JSON.stringify(oauth), problem ?? null, createdAt, updatedAt);
    },
    deleteAccount: (id) => void remove.run(id),
  };
}

export function accountReads(db: Database): Pick<AccountStore, "getAccount" | "listAccounts"> {
  const one = db.prepare("select * from accounts where id = ?");
  const all = db.prepare("select * from accounts order by app, name");
  return {
    getAccount(id) {
      const found = row(one.get(id));
      return found === undefined ? undefined : accountOf(found);
    },
    listAccounts: () => rows(all.all()).map(accountOf),
  };
}
