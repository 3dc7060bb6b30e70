import type { Account, AccountContent } from "../../domain/account/account.ts";
import type { AccountId } from "../../domain/ids.ts";

export interface AccountStore {
  /** Throws PD_CONFLICT when the app has another account with this name. */
  saveAccount(account: AccountContent): Promise<void>;
  /**
   * Returns false, without writing, when the account is gone or has changed since it was read. So only one of two
   * concurrent token renewals is stored. Throws PD_CONFLICT like `saveAccount`.
   */
  replaceAccount(before: Pick<Account, "id" | "revision">, after: AccountContent): Promise<boolean>;
  getAccount(id: string): Promise<Account | undefined>;
  /** By app, then name. */
  listAccounts(): Promise<readonly Account[]>;
  deleteAccount(id: AccountId): Promise<void>;
}
