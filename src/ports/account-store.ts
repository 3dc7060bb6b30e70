import type { Account } from "../domain/account.ts";
import type { AccountId } from "../domain/ids.ts";

/** Connected accounts and their secrets. */
export interface AccountStore {
  /** In the place of the one with its id. Throws PD_CONFLICT when another of its app has its name. */
  saveAccount(account: Account): Promise<void>;
  getAccount(id: string): Account | undefined;
  /** By app, then name. */
  listAccounts(): readonly Account[];
  deleteAccount(id: AccountId): Promise<void>;
}
