import type { Account, AccountContent } from "../domain/account.ts";
import type { AccountId } from "../domain/ids.ts";

/** Connected accounts and their secrets. */
export interface AccountStore {
  /** A new one. Throws PD_CONFLICT when another of its app has its name. */
  saveAccount(account: AccountContent): Promise<void>;
  /**
   * Puts other content in the place of what was read. False, with nothing written: it was changed since, here or by another
   * host, or is gone; so of two that renew its tokens one is stored. Throws PD_CONFLICT when another of its app has its name.
   */
  replaceAccount(before: Pick<Account, "id" | "revision">, after: AccountContent): Promise<boolean>;
  getAccount(id: string): Promise<Account | undefined>;
  /** By app, then name. */
  listAccounts(): Promise<readonly Account[]>;
  deleteAccount(id: AccountId): Promise<void>;
}
