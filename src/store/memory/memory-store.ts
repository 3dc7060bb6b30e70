import { isThere } from "../../domain/source/data-store.ts";
import { PdError } from "../../domain/errors.ts";
import { isSameJson, parseJson } from "../../domain/text/json.ts";
import { KINDS, type Kind } from "../../domain/health/usage.ts";
import { changedWebhook } from "../../domain/delivery/webhook.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { KeyStore } from "../../ports/stores/key-store.ts";
import type { RegistryStore } from "../../ports/stores/registry-store.ts";
import type { SecretStore } from "../../ports/stores/secret-store.ts";
import type { Retention, Store } from "../../ports/stores/store.ts";
import type { AlertStore } from "../../ports/stores/alert-store.ts";
import type { StoredTally, TallyStore } from "../../ports/stores/tally-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import type { TimerInstant, TimerStore } from "../../ports/stores/timer-store.ts";
import { memoryComponents } from "./components.ts";
import { memoryDeliveries, miss } from "./deliveries.ts";
import { memoryRuns } from "./runs.ts";
import type { MemorySource, Shelves } from "./shelves.ts";
import { memoryWorkflows } from "./workflows.ts";

/** Stores that share shelves act as several hosts. */
export function memoryStore(shelves: Shelves): Store {
  return {
    ...memoryComponents(shelves),
    ...memoryRuns(shelves),
    ...memoryTimers(shelves),
    ...memorySubscriptions(shelves),
    ...memoryDeliveries(shelves),
    ...memoryKeys(shelves),
    ...memoryDataStores(shelves),
    ...memoryRegistries(shelves),
    ...memoryAccounts(shelves),
    ...memorySecrets(shelves),
    ...memoryRetention(shelves),
    ...memoryUsage(shelves),
    ...memoryTallies(shelves),
    ...memoryAlerts(shelves),
    ...memoryWorkflows(shelves),
    shrink: async () => 0,
    copyTo: async (target) => {
      throw new PdError("PD_BAD_INPUT", `Cannot copy to ${target}: an in-memory store has no file`);
    },
    close: async () => {},
  };
}

function memoryAlerts(shelves: Shelves): AlertStore {
  return {
    async saveAlert(alert) {
      shelves.alerts = [...shelves.alerts, alert];
    },
    async deleteAlert(id) {
      const before = shelves.alerts.length;
      shelves.alerts = shelves.alerts.filter((alert) => alert.id !== id);
      return shelves.alerts.length < before;
    },
    listAlerts: async () => shelves.alerts.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
  };
}

function memoryTallies(shelves: Shelves): TallyStore {
  return {
    async putTallies(tallies, oldest) {
      const isSame = (a: StoredTally, b: StoredTally): boolean => a.scope === b.scope && a.step === b.step && a.at === b.at;
      const kept = shelves.tallies.filter((one) => !tallies.some((tally) => isSame(tally, one)));
      const scopes = new Set(tallies.map(({ scope }) => scope));
      shelves.tallies = [...kept, ...tallies].filter(({ scope, step, at }) => !scopes.has(scope) || at >= oldest[step]);
    },
    listTallies: async (scope, step, since) =>
      shelves.tallies
        .filter((one) => one.scope === scope && one.step === step && one.at >= since)
        .toSorted((a, b) => a.at - b.at)
        .map(({ scope: _scope, step: _step, ...tally }) => tally),
  };
}

function memoryUsage(shelves: Shelves): Pick<Store, "backlog" | "usage"> {
  return {
    backlog: async () => ({
      requests: shelves.pending.size,
      deliveries: shelves.deliveries.filter(({ delivery }) => delivery.state === "pending").length,
      postponed: shelves.postponed.length,
    }),
    async usage() {
      const events = [...shelves.sources.values()].reduce((sum, kept) => sum + kept.events.length, 0);
      const counts: Partial<Record<Kind, number>> = { events, runs: shelves.invocations.size, deliveries: shelves.deliveries.length };
      return KINDS.map((kind) => ({ kind, bytes: 0, ...(counts[kind] === undefined ? {} : { count: counts[kind] }) }));
    },
  };
}

function memoryTimers(shelves: Shelves): TimerStore {
  const isSame = (a: TimerInstant, b: TimerInstant): boolean => a.prop === b.prop && a.plannedAt === b.plannedAt;
  const known = (kept: MemorySource, instant: TimerInstant): TimerInstant | undefined => kept.instants.find((one) => isSame(one, instant));
  return {
    listTimers: async (of) => shelves.of(of).flatMap(({ timers }) => timers),
    listUnreadableTimers: async () => [],
    async advance(timer, to, instants) {
      const kept = shelves.sources.get(timer.sourceId);
      if (kept === undefined) return false;
      const stands = kept.timers.find(
        ({ prop, schedule, anchorAt }) => prop === timer.prop && anchorAt === timer.anchorAt && isSameJson({ ...schedule }, { ...timer.schedule }),
      );
      const isMoved = stands === undefined ? instants.some((instant) => known(kept, instant) !== undefined) : stands.nextAt !== timer.nextAt;
      if (isMoved) return instants.some((claim) => claim.state === "running" && known(kept, claim)?.invocationId === claim.invocationId);
      kept.instants.push(...instants.filter((instant) => known(kept, instant) === undefined));
      if (stands !== undefined) kept.timers = kept.timers.map((one) => (one === stands ? moved(stands, to) : one));
      return true;
    },
    async settleInstant(settled) {
      const kept = shelves.sources.get(settled.sourceId);
      if (kept === undefined) return;
      const { state, reason } = settled;
      kept.instants = kept.instants.map((one) => {
        if (!isSame(one, settled) || one.state !== "running") return one;
        const { invocationId: _none, reason: _before, ...rest } = one;
        return { ...rest, state, ...(reason === undefined ? {} : { reason }) };
      });
    },
    listRunning: async (of) => shelves.of(of).flatMap(({ instants }) => instants.filter(({ state }) => state === "running")),
    listInstants: async (id, limit) => (shelves.sources.get(id)?.instants ?? []).toSorted((a, b) => b.plannedAt - a.plannedAt).slice(0, limit),
  };
}

function moved<Timer extends { readonly nextAt?: number; readonly anchorAt: number }>({ nextAt: _before, ...timer }: Timer, to: Timer) {
  return { ...timer, anchorAt: to.anchorAt, ...(to.nextAt === undefined ? {} : { nextAt: to.nextAt }) };
}

function memorySubscriptions(shelves: Shelves): SubscriptionStore {
  const { webhooks } = shelves;
  const saveWebhook: SubscriptionStore["saveWebhook"] = async (webhook) => {
    webhooks.set(webhook.id, webhook);
    if (!webhook.active) miss(shelves, webhook.id);
  };
  return {
    saveWebhook,
    async changeWebhook(id, change, now) {
      const before = webhooks.get(id);
      if (before === undefined) return undefined;
      const changed = changedWebhook(before, change, now);
      await saveWebhook(changed);
      return changed;
    },
    async deleteWebhook(id) {
      webhooks.delete(id);
      shelves.alerts = shelves.alerts.filter(({ via }) => via !== id);
      shelves.subscriptions = shelves.subscriptions.filter(({ listenerId }) => listenerId !== id);
      shelves.autoSubscriptions = shelves.autoSubscriptions.filter(({ listenerId }) => listenerId !== id);
      shelves.deliveries = shelves.deliveries.filter(({ delivery }) => delivery.listenerId !== id);
    },
    getWebhook: async (id) => webhooks.get(id),
    listWebhooks: async () => [...webhooks.values()].toReversed().toSorted((a, b) => b.createdAt - a.createdAt),
    async saveSubscription(subscription) {
      const { emitterId, listenerId, channel } = subscription;
      const same = shelves.subscriptions.find((one) => one.emitterId === emitterId && one.listenerId === listenerId && one.channel === channel);
      if (same === undefined) shelves.subscriptions.push(subscription);
      return same ?? subscription;
    },
    async deleteSubscription({ emitterId, listenerId, channel }) {
      const before = shelves.subscriptions.length;
      shelves.subscriptions = shelves.subscriptions.filter((one) => one.emitterId !== emitterId || one.listenerId !== listenerId || one.channel !== channel);
      return before - shelves.subscriptions.length;
    },
    listSubscriptions: async () => shelves.subscriptions.toReversed().toSorted((a, b) => b.createdAt - a.createdAt),
    async saveAutoSubscription({ channel, listenerId }) {
      const isKnown = shelves.autoSubscriptions.some((one) => one.channel === channel && one.listenerId === listenerId);
      if (!isKnown) shelves.autoSubscriptions.push({ channel, listenerId });
    },
    listAutoSubscriptions: async () => shelves.autoSubscriptions.toSorted((a, b) => (`${a.channel} ${a.listenerId}` < `${b.channel} ${b.listenerId}` ? -1 : 1)),
    identity: async () => shelves.identity,
  };
}

function memoryKeys(shelves: Shelves): KeyStore {
  return {
    async saveKey(key) {
      if (shelves.keys.some(({ name }) => name === key.name))
        throw new PdError("PD_CONFLICT", `Cannot create a key named ${JSON.stringify(key.name)}: it already exists`);
      shelves.keys.push(key);
    },
    async deleteKey(idOrName) {
      const before = shelves.keys.length;
      shelves.keys = shelves.keys.filter(({ id, name }) => id !== idOrName && name !== idOrName);
      return shelves.keys.length < before;
    },
    listKeys: async () => shelves.keys.toReversed().toSorted((a, b) => b.createdAt - a.createdAt),
    findKey: async (hash) => shelves.keys.find((key) => key.hash === hash),
  };
}

function memoryDataStores({ dataStores }: Shelves): DataStoreStore {
  return {
    listDataStores: async (now) =>
      [...dataStores]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { createdAt, values }]) => ({ name, createdAt, keyCount: [...values.values()].filter((kept) => isThere(kept, now)).length })),
    async createDataStore(name, createdAt) {
      if (!dataStores.has(name)) dataStores.set(name, { createdAt, values: new Map() });
    },
    deleteDataStore: async (name) => dataStores.delete(name),
    async getDataStoreValue(store, key, now) {
      const kept = dataStores.get(store)?.values.get(key);
      return kept !== undefined && isThere(kept, now) ? kept.value : undefined;
    },
    listDataStoreValues: async (store, now) =>
      [...(dataStores.get(store)?.values ?? [])]
        .filter(([, kept]) => isThere(kept, now))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { value }]) => [key, value] as const),
    listDataStoreExpiries: async (store, now) =>
      [...(dataStores.get(store)?.values ?? [])]
        .flatMap(([key, kept]) => (kept.expiresAt !== undefined && isThere(kept, now) ? [[key, kept.expiresAt] as const] : []))
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    async setDataStoreValue(store, key, { value, now, ...expiry }) {
      const found = dataStores.get(store);
      if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot set ${JSON.stringify(key)}: the data store "${store}" does not exist`);
      for (const [name, kept] of found.values) if (!isThere(kept, now)) found.values.delete(name);
      found.values.set(key, { value: parseJson(JSON.stringify(value)) ?? null, ...expiry });
    },
    async setDataStoreExpiry(store, key, expiresAt) {
      const values = dataStores.get(store)?.values;
      const kept = values?.get(key);
      if (values === undefined || kept === undefined) return false;
      values.set(key, { value: kept.value, ...(expiresAt === undefined ? {} : { expiresAt }) });
      return true;
    },
    deleteDataStoreValue: async (store, key) => dataStores.get(store)?.values.delete(key) ?? false,
    clearDataStore: async (store) => dataStores.get(store)?.values.clear(),
  };
}

function memoryRegistries(shelves: Shelves): RegistryStore {
  return {
    listRegistries: async () => [...shelves.registries],
    async saveRegistry(registry) {
      if (shelves.registries.some(({ name }) => name === registry.name))
        throw new PdError("PD_CONFLICT", `Cannot add registry "${registry.name}": the name is in use; choose another with --name`);
      shelves.registries.push(registry);
    },
    async deleteRegistry(name) {
      const before = shelves.registries.length;
      shelves.registries = shelves.registries.filter((registry) => registry.name !== name);
      return shelves.registries.length < before;
    },
  };
}

function memoryAccounts({ accounts }: Shelves): AccountStore {
  const checkName = ({ id, app, name }: { id: string; app: string; name: string }): void => {
    const isTaken = [...accounts.values()].some((other) => other.id !== id && other.app === app && other.name === name);
    if (isTaken) throw new PdError("PD_CONFLICT", `Cannot store an account of ${app} as ${JSON.stringify(name)}: another account has this name`);
  };
  return {
    async saveAccount(account) {
      checkName(account);
      accounts.set(account.id, { ...account, revision: 0 });
    },
    async replaceAccount({ id, revision }, after) {
      checkName(after);
      const before = accounts.get(id);
      if (before?.revision !== revision) return false;
      accounts.set(id, { ...after, id, createdAt: before.createdAt, revision: revision + 1 });
      return true;
    },
    getAccount: async (id) => accounts.get(id),
    listAccounts: async () => [...accounts.values()].toSorted((a, b) => (a.app === b.app ? (a.name < b.name ? -1 : 1) : a.app < b.app ? -1 : 1)),
    deleteAccount: async (id) => void accounts.delete(id),
  };
}

function memorySecrets(shelves: Shelves): Omit<SecretStore, "listSourceSecrets" | "sampleSourceSecrets"> {
  return {
    async replaceSourceSecrets(before, after) {
      const kept = shelves.sources.get(before.id);
      const secretsOf = ({ configured, setAside, env }: typeof before) => ({ configured, setAside, env: { ...env } });
      if (kept === undefined || !isSameJson(secretsOf(kept.source), secretsOf(before))) return;
      kept.source = { ...kept.source, ...secretsOf(after) };
    },
    async replaceWebhookSecrets({ id, secret, oldSecrets }, after) {
      const webhook = shelves.webhooks.get(id);
      if (webhook?.secret !== secret || JSON.stringify(webhook.oldSecrets) !== JSON.stringify(oldSecrets)) return;
      shelves.webhooks.set(id, { ...webhook, secret: after.secret, oldSecrets: after.oldSecrets });
    },
    async replaceAccountCredentials({ id, credentials }, after) {
      const account = shelves.accounts.get(id);
      if (account === undefined || !isSameJson(account.credentials, credentials)) return;
      shelves.accounts.set(id, { ...account, credentials: after.credentials });
    },
    async replaceRegistryLocation({ name, location }, after) {
      shelves.registries = shelves.registries.map((registry) =>
        registry.name === name && registry.location === location ? { ...registry, location: after.location } : registry,
      );
    },
    scrub: async () => {},
  };
}

function memoryRetention(shelves: Shelves): Pick<Store, "findPrunable" | "prune" | "pruneDeliveries"> {
  return {
    findPrunable: async (ids) => ids,
    async prune(id, { maxEvents, maxInvocations, maxAgeMs }: Retention, now) {
      const kept = shelves.sources.get(id);
      if (kept === undefined) return 0;
      const cutoff = now - maxAgeMs;
      const events = kept.events.filter(({ seq, storedAt }) => seq > kept.lastSeq - maxEvents && storedAt >= cutoff);
      const invocations = [...shelves.invocations.values()].filter(({ invocation }) => invocation.sourceId === id);
      const old = invocations.filter(({ invocation }, index) => index < invocations.length - maxInvocations || invocation.startedAt < cutoff);
      const instants = kept.instants
        .toSorted((a, b) => b.plannedAt - a.plannedAt)
        .filter(({ state, plannedAt }, index) => state === "running" || (index < maxInvocations && plannedAt >= cutoff));
      const count = kept.events.length - events.length + old.length + kept.instants.length - instants.length;
      Object.assign(kept, { events, instants });
      for (const { invocation } of old) shelves.invocations.delete(invocation.id);
      return count;
    },
    async pruneDeliveries(id, { maxInvocations, maxAgeMs }: Retention, now) {
      const own = shelves.deliveries.filter(({ delivery }) => delivery.listenerId === id);
      const goes = new Set(
        own.filter(({ delivery }, index) => delivery.state !== "pending" && (delivery.createdAt < now - maxAgeMs || index < own.length - maxInvocations)),
      );
      shelves.deliveries = shelves.deliveries.filter((kept) => !goes.has(kept));
      return goes.size;
    },
  };
}
