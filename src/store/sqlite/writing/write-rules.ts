import { isFencedMessage } from "../rows/run-message.ts";
import type { WriteRequest, Writes } from "./write-request.ts";

/** How a write relates to others. */
interface WriteRule {
  /** Ids of what it uses. While a large run is written in parts, writes that share none of its ids go first. Undefined when it may use any. */
  readonly concerns: (write: unknown) => readonly string[] | undefined;
  /** It changes neither subscriptions nor the progress of sources, or it updates their caches itself. Omitting it only costs reading them again. */
  readonly leavesCaches?: true;
}

/** All components conflict: they share names, and rows that are dropped when unused. */
const COMPONENTS = "components";

const ANYTHING: WriteRule = { concerns: () => undefined };
const NOTHING: WriteRule = { concerns: () => [] };
const ofId: WriteRule = { concerns: (write) => (typeof write === "string" ? [write] : undefined) };
const ofSource: WriteRule = { concerns: (write) => membersOf(write, "sourceId") };
const ofRun: WriteRule = { concerns: (write) => membersOf(write, "workflowId", "id") };
const ofComponents: WriteRule = { concerns: () => [COMPONENTS] };
const ofKeys: WriteRule = { concerns: () => ["keys"] };
const ofRegistries: WriteRule = { concerns: () => ["registries"] };
const ofDataStore: WriteRule = { concerns: (write) => (typeof write === "string" ? [`data store ${write}`] : undefined) };
const ofCommit: WriteRule = {
  concerns: (write) => (isFencedMessage(write) ? [write.sourceId, ...("step" in write && write.step !== undefined ? [write.step.runId] : [])] : undefined),
  leavesCaches: true,
};

export const WRITE_RULES: Readonly<Record<keyof Writes, WriteRule>> = {
  commit: ofCommit,
  append: ofCommit,
  open: ofId,
  writeState: ofId,
  prune: ofId,
  pruneRuns: ofId,
  deleteEvents: ofId,
  beginChange: ofId,
  endChange: ofId,
  giveUpVersion: ofId,
  storePending: { ...NOTHING, leavesCaches: true },
  putTallies: { ...NOTHING, leavesCaches: true },
  recordAttempts: { ...NOTHING, leavesCaches: true },
  // Key rotation uses it as a barrier behind all earlier writes.
  shrink: ANYTHING,
  beginRun: { ...ofRun, leavesCaches: true },
  noteBegun: { ...ofId, leavesCaches: true },
  noteRun: ofRun,
  endWait: { concerns: (write) => membersOf(write, "runId") },
  advance: ofSource,
  settleInstant: ofSource,
  beginDeploy: { concerns: (write) => withComponents(membersOf(write, "id")) },
  finishDeploy: { concerns: (write) => withComponents(ofId.concerns(write)) },
  // It may change subscriptions, and a run's deliveries go to its listeners at commit.
  swap: ANYTHING,
  saveComponent: ofComponents,
  publishComponent: ofComponents,
  unpublishComponent: ofComponents,
  saveKey: ofKeys,
  deleteKey: ofKeys,
  saveRegistry: ofRegistries,
  deleteRegistry: ofRegistries,
  createDataStore: ofDataStore,
  clearDataStore: ofDataStore,
  deleteDataStore: ofDataStore,
  setDataStoreValue: ofDataStore,
  setDataStoreExpiry: ofDataStore,
  deleteDataStoreValue: ofDataStore,
  writeActionState: { concerns: (write) => (typeof write === "string" ? [`action ${write}`] : undefined) },
  saveAlert: ANYTHING,
  deleteAlert: { concerns: () => ["alerts"] },
  saveAccount: ANYTHING,
  deleteAccount: ANYTHING,
  deleteSource: ANYTHING,
  dropUnfinished: ANYTHING,
  missPending: ANYTHING,
  retryDeliveries: ANYTHING,
  retryDelivery: ANYTHING,
  emitAgain: ANYTHING,
  dropDonePending: ANYTHING,
  deletePostponed: ANYTHING,
  releasePostponed: ANYTHING,
  pruneDeliveries: ANYTHING,
  replaceAccountCredentials: ANYTHING,
  replaceRegistryLocation: ANYTHING,
  replaceSourceSecrets: ANYTHING,
  replaceWebhookSecrets: ANYTHING,
  changeWebhook: ANYTHING,
  deleteSubscription: ANYTHING,
  deleteWebhook: ANYTHING,
  saveAutoSubscription: ANYTHING,
  saveIdentity: ANYTHING,
  saveSubscription: ANYTHING,
  saveWebhook: ANYTHING,
  cancelRun: ANYTHING,
  dropRecordings: ANYTHING,
  replaceAccount: { concerns: (write) => membersOf(write, "id") },
};

export function isWrite(verb: WriteRequest["verb"]): verb is keyof Writes {
  return Object.hasOwn(WRITE_RULES, verb);
}

function withComponents(concerns: readonly string[] | undefined): readonly string[] | undefined {
  return concerns === undefined ? undefined : [...concerns, COMPONENTS];
}

function membersOf(write: unknown, ...names: readonly string[]): readonly string[] | undefined {
  const found = names.map((name) => (typeof write === "object" && write !== null ? Reflect.get(write, name) : undefined));
  return found.every((id) => typeof id === "string") ? found : undefined;
}
