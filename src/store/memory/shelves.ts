import type { DataStoreValue } from "../../domain/source/data-store.ts";
import type { Account } from "../../domain/account/account.ts";
import type { DedupeCache } from "../../domain/event/dedupe.ts";
import type { Attempt, Delivery } from "../../domain/delivery/delivery.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { Event, PostponedEvent } from "../../domain/event/event.ts";
import type { DeployedId, InvocationId, RunId, SavedId } from "../../domain/ids.ts";
import type { Invocation, LogLine, StateChanges } from "../../domain/run/invocation.ts";
import type { Registry } from "../../domain/component/registry.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { SourceVersion } from "../../domain/source/source-version.ts";
import type { AutoSubscription, Subscription } from "../../domain/delivery/subscription.ts";
import type { Webhook } from "../../domain/delivery/webhook.ts";
import type { StepRecord, WorkflowRun } from "../../domain/workflow/run.ts";
import type { ApiKey } from "../../ports/stores/key-store.ts";
import type { PendingRequest } from "../../ports/stores/run-store.ts";
import type { Identity } from "../../ports/stores/subscription-store.ts";
import type { Alert } from "../../domain/alert/alert.ts";
import type { StoredTally } from "../../ports/stores/tally-store.ts";
import type { Timer, TimerInstant } from "../../ports/stores/timer-store.ts";
import type { StepComponent } from "../../ports/stores/workflow-store.ts";

export interface MemorySource {
  source: DeployedComponent;
  /** Newest first. */
  versions: readonly SourceVersion[];
  isReady: boolean;
  isActivateDue: boolean;
  fence: number;
  lastSeq: number;
  cache: DedupeCache;
  readonly state: Map<string, string>;
  events: Event[];
  timers: readonly Timer[];
  instants: TimerInstant[];
}

export interface MemoryInvocation {
  invocation: Invocation;
  readonly logs: LogLine[];
}

export interface MemoryDelivery {
  delivery: Delivery;
  readonly attempts: Attempt[];
}

/** Steps are in the order they were last noted. */
export interface MemoryRun {
  run: WorkflowRun;
  readonly steps: Map<string, StepRecord>;
  /** Recorded exchanges, by path of the step. */
  recordings?: Map<string, string>;
}

export interface MemoryDataStore {
  readonly createdAt: number;
  readonly values: Map<string, DataStoreValue>;
}

/** In order of creation. Every write is synchronous. */
export class Shelves {
  readonly components = new Map<string, SavedComponent>();
  readonly sources = new Map<string, MemorySource>();
  readonly invocations = new Map<InvocationId, MemoryInvocation>();
  /** Code of a workflow → code of its steps. */
  readonly steps = new Map<SavedId, readonly StepComponent[]>();
  readonly runs = new Map<RunId, MemoryRun>();
  pending = new Map<InvocationId, PendingRequest>();
  postponed: PostponedEvent[] = [];
  readonly webhooks = new Map<string, Webhook>();
  subscriptions: Subscription[] = [];
  alerts: readonly Alert[] = [];
  tallies: readonly StoredTally[] = [];
  autoSubscriptions: AutoSubscription[] = [];
  deliveries: MemoryDelivery[] = [];
  readonly accounts = new Map<string, Account>();
  registries: Registry[] = [{ name: "pipedream", kind: "npm", location: "@pipedream" }];
  readonly dataStores = new Map<string, MemoryDataStore>();
  readonly actionState = new Map<string, Map<string, string>>();
  keys: ApiKey[] = [];
  readonly identity: Identity;
  #lastNumber = 0;

  constructor(identity: Identity) {
    this.identity = identity;
  }

  nextNumber(): number {
    return ++this.#lastNumber;
  }

  /** Undefined also while a source is being deployed. */
  shown(idOrSlug: string): MemorySource | undefined {
    return [...this.sources.values()].find(({ source, isReady }) => isReady && (source.id === idOrSlug || source.slug === idOrSlug));
  }

  of(ids: readonly DeployedId[]): readonly MemorySource[] {
    return ids.flatMap((id) => this.sources.get(id) ?? []);
  }
}

export function change(state: Map<string, string>, changes: StateChanges): void {
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) state.delete(key);
    else state.set(key, value);
  }
}

/** Sorted by key. */
export function stateOf(state: ReadonlyMap<string, string> | undefined): Record<string, string> {
  return Object.fromEntries([...(state ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
