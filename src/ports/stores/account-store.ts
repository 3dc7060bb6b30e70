import type { Account, AccountContent } from "../../domain/account/account.ts";
import type { AccountId } from "../../domain/ids.ts";

export interface AccountStore {
  /** Throws PD_CONFLICT when the name is taken. */
  saveAccount(account: AccountContent): Promise<void>;
  /**
   * Returns false, without writing, when the account is gone or has changed, so only one of two concurrent token
   * renewals is stored. Throws PD_CONFLICT.
   */
  replaceAccount(before: Pick<Account, "id" | "revision">, after: AccountContent): Promise<boolean>;
  getAccount(id: string): Promise<Account | undefined>;
  /** By app, then name. */
  listAccounts(): Promise<readonly Account[]>;
  deleteAccount(id: AccountId): Promise<void>;
}
