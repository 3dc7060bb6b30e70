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
    WorkflowStore {
  /** Returns those that may exceed `retention`. Only they need pruning. */
  findPrunable(ids: readonly (DeployedId | ListenerId)[], retention: Retention, now: number): Promise<readonly (DeployedId | ListenerId)[]>;
  /** Removes a small batch beyond `retention`, except pending requests and running instants. Returns the number of rows. 0 means done. */
  prune(sourceId: DeployedId, retention: Retention, now: number): Promise<number>;
  /** Removes a small batch of ended runs, by the same rules. Returns their number. */
  pruneRuns(workflowId: WorkflowId, retention: Retention, now: number): Promise<number>;
  /** Gives some free space back to the disk. Returns what is left, in the store's own units. */
  shrink(): Promise<number>;
  /** Removes a small batch of settled deliveries, by the rules for invocations. */
  pruneDeliveries(listenerId: ListenerId, retention: Retention, now: number): Promise<number>;
  backlog(): Promise<Backlog>;
  /** Slow, because it reads everything. */
  usage(): Promise<readonly KindUsage[]>;
  /** Copies the state of one moment while writes continue. Secrets stay sealed. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}
