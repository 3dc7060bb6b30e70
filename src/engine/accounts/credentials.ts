import type { AccountContent } from "../../domain/account.ts";
import { accountIdOf } from "../../domain/props/app-prop.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { RunResult } from "../../domain/invocation.ts";
import type { JsonValue } from "../../domain/json.ts";
import { type OAuthGrant, type TokenAnswer, canRenew, grantAfter, isDue, isRevoked, oauthCredentials } from "../../domain/oauth.ts";
import { type ConfiguredProps, dataStoresOf } from "../../domain/props/declared-props.ts";
import type { PropDeclaration } from "../../domain/props/kinds.ts";
import { isSecretField, withStars } from "../../domain/secrets.ts";
import { secretTexts } from "../../domain/props/secret-props.ts";
import { KeyedTurns } from "../../domain/turns.ts";
import type { AccountStore } from "../../ports/account-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { OAuthServer } from "../../ports/oauth-server.ts";

export interface CredentialPorts {
  readonly store: AccountStore;
  readonly oauth: OAuthServer;
  readonly clock: Clock;
  readonly log: Log;
}

/** What one call may reach: credentials in the place of accounts, and data stores by their names. */
export interface Reach {
  readonly configured: ConfiguredProps;
  readonly dataStores: readonly string[];
  /** Not to be seen in what it prints. */
  readonly secrets: readonly string[];
}

/** From what is stored by then. */
type Change = (current: AccountContent) => AccountContent;

interface NamedAccount {
  /** Of the prop. */
  readonly name: string;
  readonly app: string;
  readonly id: string;
}

/** While a token is still good, a provider that did not answer is left alone for so long. */
const FAILED_HOLDS_MS = 30_000;
/** An answer may be lost on its way: then the provider is asked once more. */
const MOST_TRIES = 2;

/** What only the person can mend, or the provider. */
const REFUSALS: ReadonlySet<string> = new Set(["PD_ACCOUNT_NOT_FOUND", "PD_ACCOUNT_UNHEALTHY", "PD_OAUTH_FAILED"]);

/** What a call may reach whose values name no account; `undefined`: they name one. */
export function reachWithoutAccounts(props: readonly PropDeclaration[], configured: ConfiguredProps): Reach | undefined {
  if (namedAccounts(props, configured).length > 0) return undefined;
  return { configured, dataStores: dataStoresOf(props, configured), secrets: secretsOf(props, configured) };
}

function namedAccounts(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly NamedAccount[] {
  return props.flatMap((prop) => {
    const id = prop.kind === "app" ? accountIdOf(configured[prop.name]) : undefined;
    return prop.kind !== "app" || id === undefined ? [] : [{ name: prop.name, app: prop.app, id }];
  });
}

/** Hands accounts to calls, with tokens that are good for a while. */
export class Credentials {
  readonly #ports: CredentialPorts;
  /** Accounts whose tokens are being renewed: however many ask, the provider is asked once. */
  readonly #renewing = new Map<string, Promise<AccountContent>>();
  /** What could not be stored yet. */
  readonly #unsaved = new Map<string, AccountContent>();
  /** When a renewal failed that may be tried again. */
  readonly #failedAt = new Map<string, number>();
  /** The last change of an account that goes on: each begins with what the one before has stored. */
  readonly #turns = new KeyedTurns<AccountId>();
  /** As they are stored: to read and open one costs as much as all else that a call does with it. */
  readonly #read = new Map<string, AccountContent>();
  readonly #over = new AbortController();

  constructor(ports: CredentialPorts) {
    this.#ports = ports;
  }

  /** Aborts when providers are waited for no longer. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** What is renewed or changed is stored; whoever still waits for a provider after `cutOff` gets PD_STOPPING. */
  async untilSettled(): Promise<void> {
    while (this.#renewing.size > 0 || !this.#turns.isOver) await Promise.allSettled([...this.#renewing.values(), this.#turns.settled()]);
  }

  /** Settles, and tries a last time to store what could not be stored before. */
  async close(): Promise<void> {
    await this.untilSettled();
    for (const [id, { name }] of this.#unsaved)
      await this.#current(id).catch((error: unknown) =>
        this.#ports.log.error("the tokens of an account are lost", { account: name, reason: messageOf(error) }),
      );
  }

  /** A new token whose answer is lost this way is lost for ever: providers get time before. */
  cutOff(): void {
    this.#over.abort(new Error("the server is stopping"));
  }

  /** As `reachOf`; what an account lacks is handed back, so that a run can say why it did not begin. Throws whatever else went wrong. */
  reachOrRefusal(props: readonly PropDeclaration[], configured: ConfiguredProps): Promise<Reach | PdError> {
    return this.reachOf(props, configured).catch((error: unknown) => {
      if (error instanceof PdError && REFUSALS.has(error.code)) return error;
      throw error;
    });
  }

  /** Throws PD_ACCOUNT_NOT_FOUND, PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING. */
  async reachOf(props: readonly PropDeclaration[], configured: ConfiguredProps): Promise<Reach> {
    const plain = reachWithoutAccounts(props, configured);
    if (plain !== undefined) return plain;
    const dataStores = dataStoresOf(props, configured);
    const named = namedAccounts(props, configured);
    const given = await Promise.all(named.map(async (account): Promise<[string, JsonValue]> => [account.name, (await this.#usable(account)).credentials]));
    const values = { ...configured, ...Object.fromEntries(given) };
    return { configured: values, dataStores, secrets: secretsOf(props, values) };
  }

  async #usable({ name: prop, app, id }: NamedAccount): Promise<AccountContent> {
    const account = await this.#current(id);
    if (account?.app !== undefined && account.app !== app)
      throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot give ${prop} its account: ${id} is of ${account.app}, not of ${app}`, {
        fix: "Give it another: pd update <source> --prop …",
      });
    if (account === undefined)
      throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot give ${prop} its account: ${id} was deleted`, { fix: "Give it another: pd update <source> --prop …" });
    return this.fresh(account);
  }

  /** As it is by now; what could not be stored before is stored first. */
  async #current(id: string): Promise<AccountContent | undefined> {
    const stored = this.#read.get(id) ?? (await this.#ports.store.getAccount(id));
    if (stored !== undefined && this.#unsaved.has(id)) return this.change(stored.id, (current) => ({ ...current }));
    if (stored !== undefined) this.#read.set(id, stored);
    return stored;
  }

  /** With tokens that are good for a while. Throws PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING. */
  async fresh(account: AccountContent): Promise<AccountContent> {
    if (account.problem !== undefined) throw unhealthy(account, account.problem);
    const now = this.#ports.clock.now();
    const { oauth } = account;
    if (oauth === undefined || !isDue(oauth, now)) return account;
    const isGood = now < (oauth.expiresAt ?? 0);
    return isGood && (!canRenew(oauth) || this.#hasJustFailed(account.id, now)) ? account : this.renew(account);
  }

  /** Nobody asks its provider at the moment, nor has it just failed. */
  canTry(id: AccountId): boolean {
    return !this.#renewing.has(id) && !this.#hasJustFailed(id, this.#ports.clock.now());
  }

  #hasJustFailed(id: AccountId, now: number): boolean {
    const failedAt = this.#failedAt.get(id);
    return failedAt !== undefined && now >= failedAt && now < failedAt + FAILED_HOLDS_MS;
  }

  /**
   * New tokens, stored before anybody gets them; those that it has already when they are newer than this account's.
   * Throws PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING.
   */
  renew(account: AccountContent): Promise<AccountContent> {
    const running = this.#renewing.get(account.id) ?? this.#renewOnce(account).finally(() => this.#renewing.delete(account.id));
    this.#renewing.set(account.id, running);
    return running;
  }

  async #renewOnce(asked: AccountContent): Promise<AccountContent> {
    const { clock, log } = this.#ports;
    const account = await this.#current(asked.id);
    if (account === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot use account "${asked.name}": it was deleted`);
    const { oauth: grant } = account;
    // A refresh token that is sent twice is taken for a stolen one.
    if (grant === undefined || !isSameGrant(grant, asked.oauth)) return account;
    let askedAt = clock.now();
    let answer = await this.#ask(grant);
    for (let tries = 1; answer.kind === "unreachable" && tries < MOST_TRIES && !this.#over.signal.aborted; tries++) {
      askedAt = clock.now();
      answer = await this.#ask(grant);
    }
    if (answer.kind === "unreachable" && this.#over.signal.aborted)
      throw new PdError("PD_STOPPING", `Cannot renew the tokens of account "${account.name}": the server is stopping`);
    const now = clock.now();
    if (answer.kind === "granted") {
      const { tokens } = answer;
      this.#failedAt.delete(account.id);
      return this.#unlessReplaced(account, ({ problem: _mended, ...current }) => {
        const oauth = grantAfter(grant, tokens, askedAt);
        return { ...current, oauth, credentials: oauthCredentials(current.credentials, oauth, tokens), updatedAt: now };
      });
    }
    if (answer.kind === "refused" && isRevoked(answer.code)) {
      const reason = told(answer.reason, account);
      const marked = await this.#unlessReplaced(account, (current) => ({ ...current, problem: reason, updatedAt: now }));
      if (marked.problem === undefined) return marked;
      throw unhealthy(account, reason);
    }
    // The token may be good for a while yet: a later call tries again.
    this.#failedAt.set(account.id, now);
    const reason = told(answer.reason, account);
    log.warn("the tokens of an account could not be renewed", { account: account.id, reason });
    if (grant.expiresAt !== undefined && now < grant.expiresAt) return account;
    throw new PdError("PD_OAUTH_FAILED", `Cannot renew the tokens of account "${account.name}": ${reason}`);
  }

  /** While the provider was asked, somebody may have given the account other credentials: those stay. */
  async #unlessReplaced({ id, name, oauth: before }: AccountContent, to: Change): Promise<AccountContent> {
    const after = await this.#changeInTurn(id, (current) => (isSameGrant(current.oauth, before) ? to(current) : current), true);
    if (after === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot use account "${name}": it was deleted`);
    return after;
  }

  /** Changes an account from what is stored of it by then; `undefined`: there is none. Throws PD_CONFLICT; then nothing has changed. */
  change(id: AccountId, to: Change): Promise<AccountContent | undefined> {
    return this.#changeInTurn(id, to, false);
  }

  /** `isKept`: also when it cannot be stored now. A rotated token must not be lost: the one before is worth nothing any more. */
  #changeInTurn(id: AccountId, to: Change, isKept: boolean): Promise<AccountContent | undefined> {
    const { store } = this.#ports;
    return this.inTurn(id, async () => {
      for (;;) {
        const current = await store.getAccount(id);
        if (current === undefined) return undefined;
        const known = this.#unsaved.get(id) ?? current;
        const next = to(known);
        if (next === current) return next;
        if (isKept) this.#unsaved.set(id, next);
        const isStored = await store.replaceAccount(current, next);
        // What another host has stored since it was read counts, and is what the change begins with.
        this.#unsaved.delete(id);
        if (isStored) return next;
      }
    });
  }

  /** After every change of this account that has begun before. Whatever gives an account that is there another content does so in here. */
  inTurn<Value>(id: AccountId, work: () => Promise<Value>): Promise<Value> {
    return this.#turns.take(id, async () => {
      try {
        return await work();
      } finally {
        this.#read.delete(id);
      }
    });
  }

  async #ask({ flow, client, scope, refreshToken }: OAuthGrant): Promise<TokenAnswer> {
    const { oauth } = this.#ports;
    if (flow === "client_credentials") return oauth.clientCredentials(client, scope, this.#over.signal);
    if (refreshToken === undefined)
      return { kind: "refused", code: "invalid_grant", reason: "its token has ended, and the provider gave nothing to renew it with" };
    return oauth.refresh(client, refreshToken, this.#over.signal);
  }
}

/** What a provider says may have in it what it was asked with. */
function told(reason: string, { credentials, oauth }: AccountContent): string {
  const fields = Object.entries(credentials).flatMap(([name, value]) => (isSecretField(name) ? [String(value)] : []));
  return withStars(reason, [...fields, oauth?.client.secret ?? "", oauth?.refreshToken ?? ""]);
}

function isSameGrant(left: OAuthGrant | undefined, right: OAuthGrant | undefined): boolean {
  return left?.grantedAt === right?.grantedAt && left?.refreshToken === right?.refreshToken;
}

function secretsOf(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return props.flatMap((prop) => (Object.hasOwn(configured, prop.name) ? secretTexts(prop, configured[prop.name]) : []));
}

function unhealthy({ name, app }: AccountContent, reason: string): PdError {
  return new PdError("PD_ACCOUNT_UNHEALTHY", `Cannot use account "${name}" of ${app}: ${reason}`, { fix: `pd accounts reconnect ${name}` });
}

/** Name of the error of a run that could not begin for want of its account. */
export const ACCOUNT_ERROR = "AccountError";

/** A run that could not begin for want of its account is a failed one, as any other: recorded, and told on `$errors`. */
export function refusedRun({ message }: PdError): RunResult {
  const error = { name: ACCOUNT_ERROR, message, stack: `${ACCOUNT_ERROR}: ${message}` };
  return { outcome: { kind: "threw", error }, emits: [], stateChanges: {}, logs: [] };
}
