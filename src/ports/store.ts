import type { DeployedId, ListenerId, WorkflowId } from "../domain/ids.ts";
import type { Backlog, KindUsage } from "../domain/usage.ts";
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

/** How much of each source is kept. */
export interface Retention {
  readonly maxEvents: number;
  readonly maxInvocations: number;
  readonly maxAgeMs: number;
}

/** Everything that is kept, behind one port. */
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
  /**
   * Those of these that have kept something longer, or more of it, than `retention` allows, or that may have: only of them
   * anything has to be removed. It writes nothing.
   */
  findPrunable(ids: readonly (DeployedId | ListenerId)[], retention: Retention, now: number): Promise<readonly (DeployedId | ListenerId)[]>;
  /**
   * Removes a small step of what one source has kept longer, or more of, than `retention` allows. Pending requests and
   * running instants stay. Resolves to the number of rows that went; 0: nothing is left to do.
   */
  prune(sourceId: DeployedId, retention: Retention, now: number): Promise<number>;
  /** Removes a small step of the runs of a workflow that have ended, by the same rules. Resolves to their number. */
  pruneRuns(workflowId: WorkflowId, retention: Retention, now: number): Promise<number>;
  /** Gives a small step of free space back to the disk. Resolves to what is left, in units of its own; 0: nothing. */
  shrink(): Promise<number>;
  /** Removes a small step of the deliveries of a listener that are settled, by the same rules as invocations. */
  pruneDeliveries(listenerId: ListenerId, retention: Retention, now: number): Promise<number>;
  /** What was accepted and is not done yet. */
  backlog(): Promise<Backlog>;
  /** What each kind takes up on disk. It looks at everything: ask it seldom. */
  usage(): Promise<readonly KindUsage[]>;
  /** Copies everything into a new file, as it is at one moment; what is written meanwhile goes on. Secrets stay sealed. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}
