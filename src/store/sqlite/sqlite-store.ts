import { existsSync } from "node:fs";
import { PdError } from "../../domain/errors.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { EventRange } from "../../ports/stores/event-store.ts";
import type { Store } from "../../ports/stores/store.ts";
import type { Database } from "../../database/driver.ts";
import { accountReads } from "./tables/accounts.ts";
import { componentReads } from "./tables/components.ts";
import { dataStoreReads } from "./tables/data-stores.ts";
import { deliveryReads } from "./tables/deliveries.ts";
import { type EventWrites, eventReads } from "./tables/events.ts";
import { keyReads } from "./tables/keys.ts";
import { MaintenanceClient } from "./file/maintenance-client.ts";
import { openForReading } from "./file/open.ts";
import { pendingReads } from "./tables/pending.ts";
import { postponedReads } from "./tables/postponed.ts";
import { registryReads } from "./tables/registries.ts";
import { retentionReads } from "./tables/retention.ts";
import { runReads } from "./tables/runs.ts";
import { secretReads } from "./tables/secrets.ts";
import { subscriptionReads } from "./tables/subscriptions.ts";
import { alertReads } from "./tables/alerts.ts";
import { tallyReads } from "./tables/tallies.ts";
import { timerReads } from "./tables/timers.ts";
import { readableRows } from "../rows/readable-rows.ts";
import { addendumMessage, attemptMessage, runMessage } from "./rows/run-message.ts";
import { StoredCommit } from "../rows/stored-commit.ts";
import { stepRecordOf, workflowRunOf } from "../rows/rows.ts";
import { beginMessage, runChangeMessage, recordMessage } from "../rows/step-message.ts";
import { backlogReads } from "./file/usage.ts";
import { watchDamage } from "./file/watch-damage.ts";
import { workflowReads } from "./tables/workflow-reads.ts";
import { WriterClient, type WriterSettings } from "./writing/writer-client.ts";

/** Reads run on this thread, writes on the thread of the writer. */
export async function openSqliteStore(settings: WriterSettings): Promise<Store> {
  const { writer, maintenance, db } = await openWatched(settings);
  const readRows = readableRows(settings.onUnreadable);
  return {
    ...componentReads(db, readRows),
    ...runReads(db, readRows),
    ...pendingReads(db, readRows),
    ...postponedReads(db),
    ...eventReads(db),
    ...timerReads(db, readRows),
    ...subscriptionReads(db),
    ...deliveryReads(db, readRows),
    ...keyReads(db),
    ...dataStoreReads(db),
    ...registryReads(db),
    ...accountReads(db),
    ...secretReads(db),
    ...workflowReads(db, readRows),
    ...retentionReads(db),
    ...tallyReads(db),
    ...alertReads(db),
    ...componentVerbs(writer),
    open: (id) => writer.write("open", id),
    commit(run) {
      const message = runMessage(run);
      return writer.write("commit", message).then((answer) => new StoredCommit(answer, run.events, message));
    },
    async append(addendum) {
      const message = addendumMessage(addendum);
      return new StoredCommit(await writer.write("append", message), addendum.events, message);
    },
    storePending: (request) => writer.write("storePending", request),
    writeActionState: (action, changes) => writer.write("writeActionState", action, changes),
    writeState: (id, changes, fence) => writer.write("writeState", id, changes, fence),
    deletePostponed: (sourceId, range) => writer.write("deletePostponed", sourceId, range),
    releasePostponed: (now) => writer.write("releasePostponed", now),
    emitAgain: (sourceId, seq, at) => writer.write("emitAgain", sourceId, seq, at),
    deleteEvents: (sourceId, range) => deleteEvents(writer, sourceId, range),
    advance: (timer, to, instants) => writer.write("advance", timer, to, instants),
    settleInstant: (instant) => writer.write("settleInstant", instant),
    prune: (sourceId, retention, now) => writer.write("prune", sourceId, retention, now),
    pruneDeliveries: (listenerId, retention, now) => writer.write("pruneDeliveries", listenerId, retention, now),
    ...listenerVerbs(writer),
    ...secretVerbs(writer),
    ...workflowVerbs(writer),
    ...serverVerbs(writer),
    ...dataStoreVerbs(writer),
    shrink: () => writer.write("shrink"),
    ...backlogReads(db),
    usage: () => maintenance.usage(),
    copyTo: (target) => maintenance.copy(target),
    async close() {
      await maintenance.close();
      db.close();
      await writer.close();
    },
  };
}

/** Deletes in steps, because there may be a million events. */
async function deleteEvents(writer: WriterClient, sourceId: DeployedId, range: EventRange): Promise<number> {
  let total = 0;
  for (let left: EventRange | undefined = range; left !== undefined;) {
    const step: ReturnType<EventWrites["deleteEvents"]> = await writer.write("deleteEvents", sourceId, left);
    total += step.count;
    left = step.left;
  }
  return total;
}

interface Opened {
  readonly writer: WriterClient;
  readonly maintenance: MaintenanceClient;
  readonly db: Database;
}

async function openWatched(settings: WriterSettings): Promise<Opened> {
  const { path, clock, signal, mustExist, onUnchecked } = settings;
  if (mustExist && !existsSync(path))
    throw new PdError("PD_DATABASE_UNUSABLE", `Cannot open the database ${path}: it is missing, but this home was used before`, {
      fix: "Put the file back, or restore a backup (pd restore <file>); to start empty, choose another folder with --home",
    });
  const writer = await WriterClient.start(settings);
  const maintenance = new MaintenanceClient({ entry: settings.maintenanceEntry, path });
  const onDamage = (reason: string): void => {
    void writer.markDamaged(reason).catch(() => {});
    settings.onDamage(reason);
  };
  try {
    await watchDamage({ path, maintenance, clock, signal, onDamage, onUnchecked });
    await writer.write("saveIdentity", settings.identity);
    return { writer, maintenance, db: openForReading(path) };
  } catch (error) {
    // Their threads would keep the process alive.
    await Promise.allSettled([maintenance.close(), writer.close()]);
    throw error;
  }
}

function componentVerbs(writer: WriterClient) {
  return {
    saveComponent: (component) => writer.write("saveComponent", component),
    publishComponent: (component) => writer.write("publishComponent", component),
    unpublishComponent: (id) => writer.write("unpublishComponent", id),
    beginDeploy: (source, component, rest) => writer.write("beginDeploy", source, component, rest),
    finishDeploy: (id, timers) => writer.write("finishDeploy", id, timers),
    dropUnfinished: (ids) => writer.write("dropUnfinished", ids),
    beginChange: (id) => writer.write("beginChange", id),
    endChange: (id) => writer.write("endChange", id),
    giveUpVersion: (id, number) => writer.write("giveUpVersion", id, number),
    swap: (source, component, rest) => writer.write("swap", source, component, rest),
    deleteSource: (id) => writer.write("deleteSource", id),
  } satisfies Partial<Store>;
}

function listenerVerbs(writer: WriterClient) {
  return {
    saveWebhook: (webhook) => writer.write("saveWebhook", webhook),
    changeWebhook: (id, change, now) => writer.write("changeWebhook", id, change, now),
    missPending: (listenerId) => writer.write("missPending", listenerId),
    deleteWebhook: (id) => writer.write("deleteWebhook", id),
    saveSubscription: (subscription) => writer.write("saveSubscription", subscription),
    deleteSubscription: (which) => writer.write("deleteSubscription", which),
    saveAutoSubscription: (subscription) => writer.write("saveAutoSubscription", subscription),
    recordAttempts: (records) => writer.writeSoon("recordAttempts", records.map(attemptMessage)),
    retryDelivery: (id, now) => writer.write("retryDelivery", id, now),
    retryDeliveries: (listenerId, which) => writer.write("retryDeliveries", listenerId, which),
  } satisfies Partial<Store>;
}

function workflowVerbs(writer: WriterClient) {
  return {
    async beginRun(run, records) {
      const before = await writer.write("beginRun", beginMessage(run, records));
      return before === undefined ? run : workflowRunOf(before);
    },
    noteBegun: (runId, record) => writer.write("noteBegun", runId, recordMessage(record)),
    async endWait(step, request) {
      const after = await writer.write("endWait", step, request);
      return after === undefined ? undefined : stepRecordOf({ record: after.record });
    },
    noteRun: (run) => writer.write("noteRun", runChangeMessage(run)),
    cancelRun: (id, at, reason) => writer.write("cancelRun", id, at, reason),
    dropRecordings: () => writer.write("dropRecordings"),
    pruneRuns: (workflowId, retention, now) => writer.write("pruneRuns", workflowId, retention, now),
  } satisfies Partial<Store>;
}

/** What belongs to no source. */
function serverVerbs(writer: WriterClient) {
  return {
    saveKey: (key) => writer.write("saveKey", key),
    deleteKey: (idOrName) => writer.write("deleteKey", idOrName),
    saveRegistry: (registry) => writer.write("saveRegistry", registry),
    deleteRegistry: (name) => writer.write("deleteRegistry", name),
    saveAlert: (alert) => writer.write("saveAlert", alert),
    deleteAlert: (id) => writer.write("deleteAlert", id),
    putTallies: (tallies, oldest) => writer.write("putTallies", tallies, oldest),
  } satisfies Partial<Store>;
}

function dataStoreVerbs(writer: WriterClient) {
  return {
    createDataStore: (name, now) => writer.write("createDataStore", name, now),
    deleteDataStore: (name) => writer.write("deleteDataStore", name),
    setDataStoreValue: (store, key, given) => writer.write("setDataStoreValue", store, key, given),
    setDataStoreExpiry: (store, key, expiresAt) => writer.write("setDataStoreExpiry", store, key, expiresAt),
    deleteDataStoreValue: (store, key) => writer.write("deleteDataStoreValue", store, key),
    clearDataStore: (store) => writer.write("clearDataStore", store),
  } satisfies Partial<Store>;
}

function secretVerbs(writer: WriterClient) {
  return {
    saveAccount: (account) => writer.write("saveAccount", account),
    replaceAccount: (before, after) => writer.write("replaceAccount", before, after),
    deleteAccount: (id) => writer.write("deleteAccount", id),
    replaceSourceSecrets: (before, after) => writer.write("replaceSourceSecrets", before, after),
    replaceWebhookSecrets: (before, after) => writer.write("replaceWebhookSecrets", before, after),
    replaceAccountCredentials: (before, after) => writer.write("replaceAccountCredentials", before, after),
    replaceRegistryLocation: (before, after) => writer.write("replaceRegistryLocation", before, after),
    scrub: () => writer.scrub(),
  } satisfies Partial<Store>;
}
