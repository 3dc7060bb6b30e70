import { type Account, type FindAccount, accountIdOf } from "../domain/account.ts";
import type { DeployedComponent } from "../domain/deployed-component.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { withDefaults } from "../domain/known-app.ts";
import { TOKEN_FIELDS } from "../domain/oauth.ts";
import { isAppSlug } from "../domain/registry.ts";
import type { AccountStore } from "../ports/account-store.ts";
import type { EnginePorts } from "./ports.ts";

export interface AccountChange {
  readonly name?: string;
  /** Fields that get another value; those with null go. */
  readonly credentials?: JsonObject;
}

type KeptAccount = Pick<Account, "app" | "credentials" | "oauth"> & { readonly name?: string; readonly before?: Account };

/** Credentials for apps, kept once and named by the components that use them. */
export class Accounts {
  readonly #ports: Pick<EnginePorts, "store" | "clock" | "credentials">;

  constructor(ports: Pick<EnginePorts, "store" | "clock" | "credentials">) {
    this.#ports = ports;
  }

  /** Of one app, or all. */
  list(app: string | undefined): readonly Account[] {
    return this.#ports.store.listAccounts().filter((account) => app === undefined || account.app === app);
  }

  /** By id, or by a name that one account has. Throws PD_ACCOUNT_NOT_FOUND. */
  find(idOrName: string): Account {
    const byId = this.#ports.store.getAccount(idOrName);
    const named = byId === undefined ? this.list(undefined).filter(({ name }) => name === idOrName) : [byId];
    const [account, another] = named;
    if (another !== undefined)
      throw new PdError("PD_CONFLICT", `Cannot tell which account is meant by "${idOrName}": ${named.map(({ id, app }) => `${id} of ${app}`).join(", ")}`, {
        fix: "Name it by its id",
      });
    if (account === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot find account "${idOrName}": none has this id or name`);
    return account;
  }

  /** Without a name it is called like its app, with a number when that is taken. Throws PD_BAD_INPUT, PD_CONFLICT. */
  async connect(app: string, credentials: JsonObject, name: string | undefined): Promise<Account> {
    this.check(app, name);
    if (Object.keys(credentials).length === 0)
      throw new PdError("PD_BAD_INPUT", `Cannot connect ${app}: no credentials are given`, { fix: `pd accounts connect ${app} --field api_key=…` });
    return this.keep({ app, credentials: withDefaults(app, credentials), ...(name === undefined ? {} : { name }) });
  }

  /** Throws PD_BAD_INPUT for what can be no app, PD_CONFLICT for a name that is taken. */
  check(app: string, name: string | undefined): void {
    if (!isAppSlug(app)) throw new PdError("PD_BAD_INPUT", `Cannot connect ${JSON.stringify(app)}: an app's slug has letters, digits and _`);
    if (this.list(app).some((account) => account.name === name))
      throw new PdError("PD_CONFLICT", `Cannot keep an account of ${app} as ${JSON.stringify(name)}: another has this name`);
  }

  /** A new account, or new credentials for the one before. Throws PD_CONFLICT, PD_ACCOUNT_NOT_FOUND. */
  async keep({ before, name, ...rest }: KeptAccount): Promise<Account> {
    const now = this.#ports.clock.now();
    if (before === undefined) {
      const account: Account = {
        ...rest,
        id: `apn_${this.#ports.clock.randomText(7)}`,
        name: name ?? this.#freeName(rest.app),
        createdAt: now,
        updatedAt: now,
      };
      await this.#ports.store.saveAccount(account);
      return account;
    }
    const kept = await this.#ports.credentials.change(before.id, ({ id, name: oldName, createdAt }) => ({
      ...rest,
      id,
      name: name ?? oldName,
      createdAt,
      updatedAt: now,
    }));
    if (kept === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot connect account "${before.name}" once more: it was deleted`);
    return kept;
  }

  async change(idOrName: string, change: AccountChange): Promise<Account> {
    const { id, name } = this.find(idOrName);
    const updatedAt = this.#ports.clock.now();
    const changed = await this.#ports.credentials.change(id, (before) => {
      const name = change.name ?? before.name;
      return { ...(change.credentials === undefined ? before : withFields(before, change.credentials)), name, updatedAt };
    });
    if (changed === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot change account "${name}": it was deleted`);
    return changed;
  }

  /** Throws PD_CONFLICT when sources use it, unless it is forced. */
  async delete(idOrName: string, force: boolean): Promise<Account> {
    const account = this.find(idOrName);
    const users = this.#ports.store.listSources().filter(({ configured }) => Object.values(configured).some((value) => accountIdOf(value) === account.id));
    if (users.length > 0 && !force)
      throw new PdError("PD_CONFLICT", `Cannot delete account "${account.name}": ${users.map(({ slug }) => slug).join(", ")} would lose it`, {
        fix: "Give those another, or give --force",
      });
    await this.#ports.credentials.inTurn(account.id, () => this.#ports.store.deleteAccount(account.id));
    return account;
  }

  /** Why a source cannot use the accounts that it was given. */
  problemsOf({ configured }: Pick<DeployedComponent, "configured">): readonly string[] {
    return Object.values(configured).flatMap((value) => {
      const id = accountIdOf(value);
      const account = id === undefined ? undefined : this.#ports.store.getAccount(id);
      if (id !== undefined && account === undefined) return [`account ${id} was deleted`];
      return account?.problem === undefined ? [] : [`account "${account.name}" cannot be used: ${account.problem}`];
    });
  }

  #freeName(app: string): string {
    const taken = new Set(this.list(app).map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = number === 1 ? app : `${app}-${number}`;
      if (!taken.has(name)) return name;
    }
  }
}

/** A token that is given by hand takes the place of all that OAuth has brought, and is not renewed. */
function withFields({ oauth, problem, credentials, ...rest }: Account, given: JsonObject): Account {
  const isByHand = oauth !== undefined && (given["oauth_access_token"] !== undefined || given["oauth_refresh_token"] !== undefined);
  const kept = isByHand ? Object.fromEntries(Object.entries(credentials).filter(([field]) => !TOKEN_FIELDS.includes(field))) : credentials;
  const merged = Object.fromEntries(Object.entries({ ...kept, ...given }).filter(([, value]) => value !== null));
  const grant = isByHand ? {} : { ...(oauth === undefined ? {} : { oauth }), ...(problem === undefined ? {} : { problem }) };
  return { ...rest, ...grant, credentials: merged };
}

/** How given values name accounts. */
export function accountFinder(store: Pick<AccountStore, "listAccounts">): FindAccount {
  return (app, idOrName) => store.listAccounts().find((account) => account.app === app && (account.id === idOrName || account.name === idOrName));
}
