import type { Account, AccountContent } from "../domain/account/account.ts";
import type { DeployedComponent } from "../domain/source/deployed-component.ts";
import { StoredSource } from "../domain/source/stored-source.ts";
import { PdError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import { isJsonObject, parseJson } from "../domain/text/json.ts";
import { isOAuthGrant } from "../domain/account/oauth.ts";
import type { Registry } from "../domain/component/registry.ts";
import type { Webhook, WebhookChange } from "../domain/delivery/webhook.ts";
import type { SourceSecrets } from "../ports/stores/secret-store.ts";
import type { StepCommit } from "../ports/stores/workflow-store.ts";
import type { Store } from "../ports/stores/store.ts";
import { SEALED_MEMBER, type Vault, sealedWith } from "../ports/vault.ts";
import { isEmpty, sealedPartsOf, secretsOf, textOf } from "./sealed-parts.ts";

/**
 * Seals values and variables of sources, signing keys, credentials, registry addresses. Resolves once all have the
 * newest key. A secret is opened on first access, so lists decrypt nothing and a broken secret throws
 * PD_SECRET_KEY_WRONG only where it is used. `sealedTexts` comes from `sealedTextsIn`, with no writes since.
 */
export async function openSealedStore(store: Store, vault: Vault, sealedTexts?: SealedTexts): Promise<Store & Resealing> {
  const seals = new Seals(vault);
  let rotating: Promise<unknown> = Promise.resolve();
  const sealed: Store & Resealing = {
    ...store,
    beginDeploy: (source, component, rest) => store.beginDeploy(seals.sealSource(source), component, rest),
    swap: (source, component, rest) => store.swap(seals.sealSource(source), component, rest),
    async getSource(idOrSlug) {
      const found = await store.getSource(idOrSlug);
      // An unreadable row is told of here, as not all callers read more of it.
      void found?.source;
      return found === undefined ? undefined : seals.openStored(found);
    },
    listSources: async () => (await store.listSources()).map((found) => seals.openStored(found)),
    listWorkflows: async () => (await store.listWorkflows()).map((found) => seals.openStored(found)),
    listSourceSecrets: async () => (await store.listSourceSecrets()).map((source) => seals.openSecrets(source)),
    saveWebhook: (webhook) => store.saveWebhook(seals.sealWebhook(webhook)),
    changeWebhook: async (id, change, now) => opened(await store.changeWebhook(id, seals.sealChange(id, change), now), (found) => seals.openWebhook(found)),
    getWebhook: async (id) => opened(await store.getWebhook(id), (webhook) => seals.openWebhook(webhook)),
    listWebhooks: async () => (await store.listWebhooks()).map((webhook) => seals.openWebhook(webhook)),
    saveAccount: (account) => store.saveAccount(seals.sealAccount(account)),
    replaceAccount: ({ id, revision }, after) => store.replaceAccount({ id, revision }, seals.sealAccount(after)),
    getAccount: async (id) => opened(await store.getAccount(id), (account) => seals.openAccount(account)),
    listAccounts: async () => (await store.listAccounts()).map((account) => seals.openAccount(account)),
    commit: (commit) => store.commit(commit.step?.recording === undefined ? commit : { ...commit, step: seals.sealStep(commit.step) }),
    recordings: async (id) => new Map([...(await store.recordings(id))].flatMap(([path, text]) => seals.openRecording(text, { id, path }))),
    saveRegistry: (registry) => store.saveRegistry(seals.sealRegistry(registry)),
    listRegistries: async () => (await store.listRegistries()).map((registry) => seals.openRegistry(registry)),
    rotateSecrets() {
      const rotate = async (): Promise<number> => {
        await vault.rotate();
        return (await import("./reseal.ts")).reseal(store, { vault, seals });
      };
      // Each rotation forgets the earlier keys at its end.
      const rotated = rotating.then(rotate, rotate);
      rotating = rotated;
      return rotated;
    },
  };
  const isAllCurrent = sealedTexts !== undefined && [...sealedTexts.values()].every((text) => vault.isCurrent(text));
  if (isAllCurrent) await vault.forgetOldKeys();
  else await (await import("./reseal.ts")).reseal(store, { vault, seals });
  return sealed;
}

/** One text per key, by key id. The id is undefined for clear text. */
export type SealedTexts = ReadonlyMap<string | undefined, string>;

export async function sealedTextsIn(store: Store): Promise<SealedTexts> {
  const found = new Map<string | undefined, string>();
  const note = (text: string): void => void found.set(sealedWith(text), text);
  for (const source of await store.sampleSourceSecrets()) for (const part of sealedPartsOf(source)) note(textOf(part));
  for (const webhook of await store.listWebhooks()) for (const secret of secretsOf(webhook)) note(secret);
  for (const { credentials } of await store.listAccounts()) note(textOf(credentials));
  for (const { location } of await store.listRegistries()) note(location);
  return found;
}

export function keysOf(texts: SealedTexts): ReadonlySet<string> {
  return new Set([...texts.keys()].filter((id) => id !== undefined));
}

export interface Resealing {
  /** The next start completes an interrupted rotation. Resolves to the number of secrets that could not be opened. */
  rotateSecrets(): Promise<number>;
}

function opened<Value>(found: Value | undefined, open: (found: Value) => Value): Value | undefined {
  return found === undefined ? undefined : open(found);
}

function placeOf(run: RunId, path: string): string {
  return `recording ${run} ${path}`;
}

function textsOf(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, String(value)]));
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Opens each secret on first access, so that a broken one does not hide the others. */
class OpenedSecrets {
  readonly #seals: Seals;
  readonly #sealed: SourceSecrets;
  #configured: SourceSecrets["configured"] | undefined;
  #setAside: SourceSecrets["setAside"] | undefined;
  #env: SourceSecrets["env"] | undefined;

  constructor(seals: Seals, sealed: SourceSecrets) {
    this.#seals = seals;
    this.#sealed = sealed;
  }

  get configured(): SourceSecrets["configured"] {
    this.#configured ??= this.#seals.openConfigured(this.#sealed);
    return this.#configured;
  }

  get setAside(): SourceSecrets["setAside"] {
    this.#setAside ??= this.#seals.openSetAside(this.#sealed);
    return this.#setAside;
  }

  get env(): SourceSecrets["env"] {
    this.#env ??= this.#seals.openEnv(this.#sealed);
    return this.#env;
  }
}

const SECRETS = Symbol("secrets");

type SecretName = "configured" | "setAside" | "env";

function accessorOf(name: SecretName): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: { readonly [SECRETS]: OpenedSecrets }) {
      return this[SECRETS][name];
    },
  };
}

/** Own properties, so that copies include them. Shared, because V8 would make a shape for each of thousands of sources. */
const ACCESSORS = { configured: accessorOf("configured"), setAside: accessorOf("setAside"), env: accessorOf("env") };

function giveSecrets<Source extends object>(source: Source, secrets: OpenedSecrets): asserts source is Source & Pick<SourceSecrets, SecretName> {
  Object.defineProperty(source, SECRETS, { value: secrets });
  Object.defineProperties(source, ACCESSORS);
}

/** Seals each secret for its place, so that it cannot be used in another. */
export class Seals {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  sealSource<Source extends SourceSecrets>(source: Source): Source {
    const { id, configured, setAside, env } = source;
    return {
      ...source,
      configured: this.#sealAll(configured, `values of ${id}`),
      setAside: isEmpty(setAside) ? setAside : this.#sealAll(setAside, `values of ${id} that are set aside`),
      env: this.#sealAll(env, `variables of ${id}`),
    };
  }

  openStored(sealed: StoredSource): StoredSource {
    return new StoredSource(sealed.outline, { source: () => this.openSource(sealed.source), provenance: () => sealed.provenance });
  }

  openSource({ configured, setAside, env, ...rest }: DeployedComponent): DeployedComponent {
    // V8 makes a dictionary of an object when an accessor replaces a value.
    giveSecrets(rest, new OpenedSecrets(this, { id: rest.id, configured, setAside, env }));
    return rest;
  }

  openSecrets(sealed: SourceSecrets): SourceSecrets {
    return { id: sealed.id, configured: this.openConfigured(sealed), setAside: this.openSetAside(sealed), env: this.openEnv(sealed) };
  }

  openConfigured({ id, configured }: SourceSecrets): SourceSecrets["configured"] {
    return this.#openAll(configured, `values of ${id}`);
  }

  openSetAside({ id, setAside }: SourceSecrets): SourceSecrets["setAside"] {
    return isEmpty(setAside) ? {} : this.#openAll(setAside, `values of ${id} that are set aside`);
  }

  openEnv({ id, env }: SourceSecrets): SourceSecrets["env"] {
    return textsOf(this.#openAll(env, `variables of ${id}`));
  }

  sealWebhook(webhook: Webhook): Webhook {
    const place = `webhook ${webhook.id}`;
    const oldSecrets = webhook.oldSecrets.map((old) => ({ ...old, secret: this.#vault.seal(old.secret, place) }));
    return { ...webhook, secret: this.#vault.seal(webhook.secret, place), oldSecrets };
  }

  sealStep(step: StepCommit): StepCommit {
    const { recording, run, record } = step;
    return recording === undefined ? step : { ...step, recording: this.#vault.seal(recording, placeOf(run.id, record.path)) };
  }

  /** A recording whose key is lost counts as dropped. */
  openRecording(text: string, { id, path }: { readonly id: RunId; readonly path: string }): readonly (readonly [string, string])[] {
    try {
      return [[path, this.#vault.open(text, placeOf(id, path))]];
    } catch (error) {
      if (error instanceof PdError && error.code === "PD_SECRET_KEY_WRONG") return [];
      throw error;
    }
  }

  sealChange(id: Webhook["id"], change: WebhookChange): WebhookChange {
    return change.secret === undefined ? change : { ...change, secret: this.#vault.seal(change.secret, `webhook ${id}`) };
  }

  /** Opens secrets on first access. */
  openWebhook(webhook: Webhook): Webhook {
    const place = `webhook ${webhook.id}`;
    const secret = once(() => this.#vault.open(webhook.secret, place));
    const oldSecrets = once(() => webhook.oldSecrets.map((old) => ({ ...old, secret: this.#vault.open(old.secret, place) })));
    return {
      ...webhook,
      get secret() {
        return secret();
      },
      get oldSecrets() {
        return oldSecrets();
      },
    };
  }

  sealAccount(account: AccountContent): AccountContent {
    const { oauth, ...rest } = account;
    return { ...rest, credentials: this.#sealAll({ credentials: account.credentials, oauth }, `account ${account.id}`) };
  }

  openAccount(account: Account): Account {
    if (textOf(account.credentials) === "") return account;
    const opened = once(() => this.#openAll(account.credentials, `account ${account.id}`));
    return {
      ...account,
      get credentials() {
        const { credentials } = opened();
        return isJsonObject(credentials) ? credentials : {};
      },
      get oauth() {
        const { oauth } = opened();
        return isOAuthGrant(oauth) ? oauth : undefined;
      },
    };
  }

  sealRegistry(registry: Registry): Registry {
    return { ...registry, location: this.#vault.seal(registry.location, `registry ${registry.name}`) };
  }

  openRegistry(registry: Registry): Registry {
    const location = once(() => this.#vault.open(registry.location, `registry ${registry.name}`));
    return {
      ...registry,
      get location() {
        return location();
      },
    };
  }

  #sealAll(members: Readonly<Record<string, unknown>>, place: string): Record<string, string> {
    return { [SEALED_MEMBER]: this.#vault.seal(JSON.stringify(members), place) };
  }

  #openAll<Members extends object>(members: Members & Readonly<Record<string, unknown>>, place: string) {
    const text = textOf(members);
    const value = text === "" ? members : parseJson(this.#vault.open(text, place));
    return isJsonObject(value) ? value : {};
  }
}
