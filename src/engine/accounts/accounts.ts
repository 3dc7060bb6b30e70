import type { Clock } from "../../ports/clock.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { Credentials } from "./credentials.ts";
import type { Account, AccountContent, FindAccount } from "../../domain/account/account.ts";
import { accountIdOf } from "../../domain/props/app-prop.ts";
import type { ComponentDefinition } from "../../domain/component/component.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { StoredSource } from "../../domain/source/stored-source.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { catalogApp, withDefaults } from "../../domain/account/app-catalog.ts";
import { TOKEN_FIELDS } from "../../domain/account/oauth.ts";
import { withDynamicProps } from "../../domain/props/declared-props.ts";
import { type AccountTest, type PublishedAnswer, testAccount } from "./account-test.ts";
import type { Prober } from "../../ports/prober.ts";
import type { AppProbe } from "../../domain/account/app-catalog.ts";
import { isAppSlug } from "../../domain/component/registry.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";

export interface AccountChange {
  readonly name?: string;
  /** `null` removes a field. */
  readonly credentials?: JsonObject;
}

type AccountToStore = Pick<Account, "app" | "credentials" | "oauth"> & { readonly name?: string; readonly before?: Account };

export interface AccountPorts {
  readonly store: AccountStore & Pick<ComponentStore, "listSources">;
  readonly clock: Clock;
  readonly credentials: Credentials;
  /** Slugs of workflows. */
  readonly workflowsWith: (id: string) => Promise<readonly string[]>;
  readonly prober: Prober;
  /** Asks published components of the account's app. Undefined when none can be asked. */
  readonly askPublished: (account: AccountContent) => Promise<PublishedAnswer | undefined>;
}

export class Accounts {
  readonly #ports: AccountPorts;
  readonly #tested = new Map<string, AccountTest["verdict"]>();
  /** The newest test of each account. */
  readonly #testing = new Map<string, object>();

  constructor(ports: AccountPorts) {
    this.#ports = ports;
  }

  /** Throws PD_ACCOUNT_NOT_FOUND, PD_BAD_INPUT. */
  async test(idOrName: string, probe: AppProbe | undefined): Promise<AccountTest> {
    const account = await this.find(idOrName);
    const underWay = {};
    this.#testing.set(account.id, underWay);
    const tested = await testAccount(this.#ports, account, probe);
    // Its credentials may have been replaced meanwhile.
    if (this.#testing.get(account.id) === underWay) this.#tested.set(account.id, tested.verdict);
    return tested;
  }

  #forgetTest(id: string): void {
    this.#tested.delete(id);
    this.#testing.delete(id);
  }

  /** Since the server started, and since its credentials were changed. */
  lastVerdict(id: string): AccountTest["verdict"] | undefined {
    return this.#tested.get(id);
  }

  async list(app: string | undefined): Promise<readonly Account[]> {
    return (await this.#ports.store.listAccounts()).filter((account) => app === undefined || account.app === app);
  }

  /** Throws PD_ACCOUNT_NOT_FOUND, PD_CONFLICT for an ambiguous name. */
  async find(idOrName: string): Promise<Account> {
    const byId = await this.#ports.store.getAccount(idOrName);
    const named = byId === undefined ? (await this.list(undefined)).filter(({ name }) => name === idOrName) : [byId];
    const [account, another] = named;
    if (another !== undefined)
      throw new PdError(
        "PD_CONFLICT",
        `Cannot find account "${idOrName}": several have this name: ${named.map(({ id, app }) => `${id} of ${app}`).join(", ")}`,
        {
          fix: "Use its id",
        },
      );
    if (account === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot find account "${idOrName}": none has this id or name`);
    return account;
  }

  /** The default name is the app's, with a number when that is taken. Throws PD_BAD_INPUT, PD_CONFLICT. */
  async connect(app: string, credentials: JsonObject, name: string | undefined): Promise<AccountContent> {
    await this.check(app, name);
    if (Object.keys(credentials).length === 0)
      throw new PdError("PD_BAD_INPUT", `Cannot connect ${app}: no credentials are given`, { fix: `pd accounts connect ${app} --field api_key=…` });
    return this.keep({ app, credentials: withDefaults(await catalogApp(app), credentials), ...(name === undefined ? {} : { name }) });
  }

  /** Throws PD_BAD_INPUT for an invalid app, PD_CONFLICT when the name is taken. */
  async check(app: string, name: string | undefined): Promise<void> {
    if (!isAppSlug(app)) throw new PdError("PD_BAD_INPUT", `Cannot connect ${JSON.stringify(app)}: an app's slug has letters, digits and _`);
    if ((await this.list(app)).some((account) => account.name === name))
      throw new PdError("PD_CONFLICT", `Cannot save an account of ${app} as ${JSON.stringify(name)}: another one has this name`);
  }

  /** Replaces the credentials of `before`, if any. Throws PD_CONFLICT, PD_ACCOUNT_NOT_FOUND. */
  async keep({ before, name, ...rest }: AccountToStore): Promise<AccountContent> {
    const now = this.#ports.clock.now();
    if (before === undefined) {
      const account: AccountContent = {
        ...rest,
        id: `apn_${this.#ports.clock.randomText(7)}`,
        name: name ?? (await this.#freeName(rest.app)),
        createdAt: now,
        updatedAt: now,
      };
      await this.#ports.store.saveAccount(account);
      return account;
    }
    this.#forgetTest(before.id);
    const kept = await this.#ports.credentials.change(before.id, ({ id, name: oldName, createdAt }) => ({
      ...rest,
      id,
      name: name ?? oldName,
      createdAt,
      updatedAt: now,
    }));
    if (kept === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot connect account "${before.name}" again: it was deleted`);
    return kept;
  }

  async change(idOrName: string, change: AccountChange): Promise<AccountContent> {
    const { id, name } = await this.find(idOrName);
    const updatedAt = this.#ports.clock.now();
    if (change.credentials !== undefined) this.#forgetTest(id);
    const changed = await this.#ports.credentials.change(id, (before) => {
      const name = change.name ?? before.name;
      return { ...(change.credentials === undefined ? before : withFields(before, change.credentials)), name, updatedAt };
    });
    if (changed === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot change account "${name}": it was deleted`);
    return changed;
  }

  /** Throws PD_CONFLICT when sources or workflows use it, unless `force`. */
  async delete(idOrName: string, force: boolean): Promise<Account> {
    const account = await this.find(idOrName);
    const users = force ? [] : await this.#slugsOfUsers(account.id);
    if (users.length > 0)
      throw new PdError("PD_CONFLICT", `Cannot delete account "${account.name}": used by ${users.join(", ")}`, {
        fix: "Give these another account, or use --force",
      });
    await this.#ports.credentials.inTurn(account.id, () => this.#ports.store.deleteAccount(account.id));
    return account;
  }

  async problemsOf(sources: readonly UserOfAccounts[]): Promise<readonly (readonly string[])[]> {
    const used = sources.map(accountsOf);
    if (used.every((ids) => ids.length === 0)) return used;
    const accounts = new Map((await this.list(undefined)).map((account): [string, Account] => [account.id, account]));
    return used.map((ids) =>
      ids.flatMap((id) => {
        const account = accounts.get(id);
        if (account === undefined) return [`account ${id} was deleted`];
        return account.problem === undefined ? [] : [`account "${account.name}" cannot be used: ${account.problem}`];
      }),
    );
  }

  async #slugsOfUsers(id: string): Promise<readonly string[]> {
    const sources = await this.#ports.store.listSources();
    // An unreadable source may use any account.
    const users = sources.filter((stored) => accountsOfStored(stored)?.includes(id) ?? true).map(({ outline }) => outline.slug);
    return [...users, ...(await this.#ports.workflowsWith(id))];
  }

  async #freeName(app: string): Promise<string> {
    const taken = new Set((await this.list(app)).map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = number === 1 ? app : `${app}-${number}`;
      if (!taken.has(name)) return name;
    }
  }
}

/** A token given by hand replaces everything from OAuth and is not renewed. */
function withFields({ oauth, problem, credentials, ...rest }: AccountContent, given: JsonObject): AccountContent {
  const isByHand = oauth !== undefined && (given["oauth_access_token"] !== undefined || given["oauth_refresh_token"] !== undefined);
  const kept = isByHand ? Object.fromEntries(Object.entries(credentials).filter(([field]) => !TOKEN_FIELDS.includes(field))) : credentials;
  const merged = Object.fromEntries(Object.entries({ ...kept, ...given }).filter(([, value]) => value !== null));
  const grant = isByHand ? {} : { ...(oauth === undefined ? {} : { oauth }), ...(problem === undefined ? {} : { problem }) };
  return { ...rest, ...grant, credentials: merged };
}

export interface UserOfAccounts {
  readonly source: Pick<DeployedComponent, "configured">;
  /** Includes the dynamic props. */
  readonly definition: Pick<ComponentDefinition, "props">;
}

export function accountsOf({ source, definition }: UserOfAccounts): readonly string[] {
  return definition.props.flatMap((prop) => (prop.kind === "app" ? (accountIdOf(source.configured[prop.name]) ?? []) : []));
}

export async function accountFinder(store: Pick<AccountStore, "listAccounts">): Promise<FindAccount> {
  const accounts = await store.listAccounts();
  return (app, idOrName) => accounts.find((account) => account.app === app && (account.id === idOrName || account.name === idOrName));
}

/** Undefined when the row cannot be read. */
function accountsOfStored(stored: StoredSource): readonly string[] | undefined {
  try {
    const { source, provenance } = stored;
    return accountsOf({ source, definition: { props: withDynamicProps(provenance.declared.props, source.dynamicProps) } });
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_DATABASE_DAMAGED") return undefined;
    // Deleted while the sources were listed.
    if (error instanceof PdError && error.code === "PD_COMPONENT_NOT_FOUND") return [];
    throw error;
  }
}
