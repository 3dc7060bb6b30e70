import type { AccountContent } from "../../domain/account/account.ts";
import { accountIdOf } from "../../domain/props/app-prop.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { AccountId } from "../../domain/ids.ts";
import type { RunResult } from "../../domain/run/invocation.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { type OAuthGrant, type TokenAnswer, canRenew, grantAfter, isDue, isRevoked, oauthCredentials } from "../../domain/account/oauth.ts";
import { type ConfiguredProps, dataStoresOf } from "../../domain/props/declared-props.ts";
import type { PropDeclaration } from "../../domain/props/kinds.ts";
import { isSecretField, withStars } from "../../domain/account/secrets.ts";
import { secretTexts } from "../../domain/props/secret-props.ts";
import { KeyedTurns } from "../../domain/source/turns.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { OAuthServer } from "../../ports/oauth-server.ts";

export interface CredentialPorts {
  readonly store: AccountStore;
  readonly oauth: OAuthServer;
  readonly clock: Clock;
  readonly log: Log;
}

/** Everything that one call may access. Credentials take the place of accounts. */
export interface Access {
  readonly configured: ConfiguredProps;
  readonly dataStores: readonly string[];
  readonly secrets: readonly string[];
}

type Change = (current: AccountContent) => AccountContent;

interface NamedAccount {
  readonly name: string;
  readonly app: string;
  readonly id: string;
}

/** Pause after a failed renewal while the current token is still valid. */
const FAILED_HOLDS_MS = 30_000;
/** An answer may be lost. */
const MOST_TRIES = 2;

/** Only the user or the provider can resolve these. */
const REFUSALS: ReadonlySet<string> = new Set(["PD_ACCOUNT_NOT_FOUND", "PD_ACCOUNT_UNHEALTHY", "PD_OAUTH_FAILED"]);

export function accessWithoutAccounts(props: readonly PropDeclaration[], configured: ConfiguredProps): Access | undefined {
  if (namedAccounts(props, configured).length > 0) return undefined;
  return { configured, dataStores: dataStoresOf(props, configured), secrets: secretsOf(props, configured) };
}

function namedAccounts(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly NamedAccount[] {
  return props.flatMap((prop) => {
    const id = prop.kind === "app" ? accountIdOf(configured[prop.name]) : undefined;
    return prop.kind !== "app" || id === undefined ? [] : [{ name: prop.name, app: prop.app, id }];
  });
}

export class Credentials {
  readonly #ports: CredentialPorts;
  /** Parallel callers share one request to the provider. */
  readonly #renewing = new Map<string, Promise<AccountContent>>();
  readonly #unsaved = new Map<string, AccountContent>();
  readonly #failedAt = new Map<string, number>();
  /** Each change starts from what the previous one has stored. */
  readonly #turns = new KeyedTurns<AccountId>();
  /** Reading and opening an account costs as much as the rest of a call. */
  readonly #read = new Map<string, AccountContent>();
  readonly #over = new AbortController();

  constructor(ports: CredentialPorts) {
    this.#ports = ports;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves when renewals and changes are stored. After `cutOff`, callers that wait for a provider get PD_STOPPING. */
  async untilSettled(): Promise<void> {
    while (this.#renewing.size > 0 || !this.#turns.isOver) await Promise.allSettled([...this.#renewing.values(), this.#turns.settled()]);
  }

  /** Retries once what could not be stored before. */
  async close(): Promise<void> {
    await this.untilSettled();
    for (const [id, { name }] of this.#unsaved)
      await this.#current(id).catch((error: unknown) =>
        this.#ports.log.error("the tokens of an account are lost", { account: name, reason: messageOf(error) }),
      );
  }

  /** A new token whose answer is cut off is lost permanently. Give providers time before. */
  cutOff(): void {
    this.#over.abort(new Error("the server is stopping"));
  }

  /** Returns the errors in REFUSALS, so that a run can report them. */
  accessOrRefusal(props: readonly PropDeclaration[], configured: ConfiguredProps): Promise<Access | PdError> {
    return this.reachOf(props, configured).catch((error: unknown) => {
      if (error instanceof PdError && REFUSALS.has(error.code)) return error;
      throw error;
    });
  }

  /** Throws PD_ACCOUNT_NOT_FOUND, PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING. */
  async reachOf(props: readonly PropDeclaration[], configured: ConfiguredProps): Promise<Access> {
    const plain = accessWithoutAccounts(props, configured);
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
      throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot use the account of ${prop}: expected an account of ${app}, got ${id} of ${account.app}`, {
        fix: "Set another one: pd update <source> --prop …",
      });
    if (account === undefined)
      throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot use the account of ${prop}: ${id} was deleted`, {
        fix: "Set another one: pd update <source> --prop …",
      });
    return this.fresh(account);
  }

  async #current(id: string): Promise<AccountContent | undefined> {
    const stored = this.#read.get(id) ?? (await this.#ports.store.getAccount(id));
    if (stored !== undefined && this.#unsaved.has(id)) return this.change(stored.id, (current) => ({ ...current }));
    if (stored !== undefined) this.#read.set(id, stored);
    return stored;
  }

  /** Throws PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING. */
  async fresh(account: AccountContent): Promise<AccountContent> {
    if (account.problem !== undefined) throw unhealthy(account, account.problem);
    const now = this.#ports.clock.now();
    const { oauth } = account;
    if (oauth === undefined || !isDue(oauth, now)) return account;
    const isGood = now < (oauth.expiresAt ?? 0);
    return isGood && (!canRenew(oauth) || this.#hasJustFailed(account.id, now)) ? account : this.renew(account);
  }

  canTry(id: AccountId): boolean {
    return !this.#renewing.has(id) && !this.#hasJustFailed(id, this.#ports.clock.now());
  }

  #hasJustFailed(id: AccountId, now: number): boolean {
    const failedAt = this.#failedAt.get(id);
    return failedAt !== undefined && now >= failedAt && now < failedAt + FAILED_HOLDS_MS;
  }

  /**
   * Resolves once the tokens are stored. Returns stored ones that are newer than those of `account`. Throws
   * PD_ACCOUNT_UNHEALTHY, PD_OAUTH_FAILED, PD_STOPPING.
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
    // Providers take a refresh token that is sent twice for a stolen one.
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
    this.#failedAt.set(account.id, now);
    const reason = told(answer.reason, account);
    log.warn("the tokens of an account could not be renewed", { account: account.id, reason });
    if (grant.expiresAt !== undefined && now < grant.expiresAt) return account;
    throw new PdError("PD_OAUTH_FAILED", `Cannot renew the tokens of account "${account.name}": ${reason}`);
  }

  /** Credentials may be replaced while the provider is asked. */
  async #unlessReplaced({ id, name, oauth: before }: AccountContent, to: Change): Promise<AccountContent> {
    const after = await this.#changeInTurn(id, (current) => (isSameGrant(current.oauth, before) ? to(current) : current), true);
    if (after === undefined) throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot use account "${name}": it was deleted`);
    return after;
  }

  /** Undefined when the account does not exist. Throws PD_CONFLICT, having changed nothing. */
  change(id: AccountId, to: Change): Promise<AccountContent | undefined> {
    return this.#changeInTurn(id, to, false);
  }

  /** `isKept` keeps a change in memory that cannot be stored now. A rotated token must not be lost, because the previous one is invalid. */
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
        // Another host has stored a change since the read.
        this.#unsaved.delete(id);
        if (isStored) return next;
      }
    });
  }

  /** Every write to an existing account must run in here. */
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
    if (refreshToken === undefined) return { kind: "refused", code: "invalid_grant", reason: "its token has expired, and the provider gave no refresh token" };
    return oauth.refresh(client, refreshToken, this.#over.signal);
  }
}

/** A provider's message may contain what was sent to it. */
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

export const ACCOUNT_ERROR = "AccountError";

/** Recorded and reported on `$errors` like any failed run. */
export function refusedRun({ message }: PdError): RunResult {
  const error = { name: ACCOUNT_ERROR, message, stack: `${ACCOUNT_ERROR}: ${message}` };
  return { outcome: { kind: "threw", error }, emits: [], stateChanges: {}, logs: [] };
}
