import type { DeployedId, ListenerId, WorkflowId } from "../../domain/ids.ts";
import type { Backlog, KindUsage } from "../../domain/health/usage.ts";
import type { AccountStore } from "./account-store.ts";
import type { ComponentStore } from "./component-store.ts";
import type { DataStoreStore } from "./data-store-store.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { EventStore } from "./event-store.ts";
import type { KeyStore } from "./key-store.ts";
import type { PostponedStore } from "./postponed-store.ts";
import type { RegistryStore } from "./registry-store.ts";
import type { RunStore } from "./run-store.ts";
import type { SecretStore } from "./secret-store.ts";
import type { SubscriptionStore } from "./subscription-store.ts";
import type { AlertStore } from "./alert-store.ts";
import type { TallyStore } from "./tally-store.ts";
import type { TimerStore } from "./timer-store.ts";
import type { WorkflowStore } from "./workflow-store.ts";

/** Per source. */
export interface Retention {
  readonly maxEvents: number;
  readonly maxInvocations: number;
  readonly maxAgeMs: number;
}

export interface Store
  extends
    ComponentStore,
    RunStore,
    EventStore,
    PostponedStore,
    TimerStore,
    SubscriptionStore,
    DeliveryStore,
    KeyStore,
    DataStoreStore,
    RegistryStore,
    AccountStore,
    SecretStore,
    TallyStore,
    AlertStore,
    WorkflowStore {
  /** Only these may need pruning. */
  findPrunable(ids: readonly (DeployedId | ListenerId)[], retention: Retention, now: number): Promise<readonly (DeployedId | ListenerId)[]>;
  /** Removes a small batch, except pending requests and running instants. Returns the number of rows. 0 means done. */
  prune(sourceId: DeployedId, retention: Retention, now: number): Promise<number>;
  /** Removes a small batch, by the same rules. Returns the number of runs. */
  pruneRuns(workflowId: WorkflowId, retention: Retention, now: number): Promise<number>;
  /** Returns what is left to free, in the store's own units. */
  shrink(): Promise<number>;
  /** Removes a small batch, by the rules for invocations. */
  pruneDeliveries(listenerId: ListenerId, retention: Retention, now: number): Promise<number>;
  backlog(): Promise<Backlog>;
  /** Slow, because it reads everything. */
  usage(): Promise<readonly KindUsage[]>;
  /** Copies the state of one moment while writes continue. Secrets stay sealed. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}
