import type { DedupeCache, DedupeChange } from "../../domain/event/dedupe.ts";
import type { Event, NewEvents, NewPostponedEvent } from "../../domain/event/event.ts";
import type { DeployedId, InvocationId, ListenerId } from "../../domain/ids.ts";
import type { Invocation, LogLine, Outcome, StateChanges } from "../../domain/run/invocation.ts";
import type { Trigger } from "../../domain/run/trigger.ts";
import type { StepCommit } from "./workflow-store.ts";

/** Owned by the one host that may write it. */
export interface OpenedSource {
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  readonly cache: DedupeCache;
  readonly fence: number;
}

export interface RunCommit {
  readonly fence: number;
  readonly invocation: Invocation;
  /** JSON text when known, so that a large body is serialized once. */
  readonly triggerText?: string | undefined;
  readonly events: NewEvents;
  readonly postponed?: readonly NewPostponedEvent[] | undefined;
  readonly stateChanges: StateChanges;
  readonly learned?: DedupeChange | undefined;
  readonly logs: readonly LogLine[];
  readonly step?: StepCommit | undefined;
}

/** Effects of a call after its commit. */
export interface Addendum {
  readonly fence: number;
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly at: number;
  readonly events: NewEvents;
  readonly postponed?: readonly NewPostponedEvent[] | undefined;
  readonly stateChanges: StateChanges;
  readonly learned?: DedupeChange | undefined;
  readonly logs: readonly LogLine[];
  readonly dropped: Readonly<Record<string, number>>;
  /** The call failed after all. */
  readonly outcome?: Outcome;
}

export interface Committed {
  readonly events: readonly Event[];
  /** Listeners with a delivery that is due. */
  readonly listeners: readonly ListenerId[];
}

/** Acknowledged before its run ended. */
export interface PendingRequest {
  readonly id: InvocationId;
  readonly sourceId: DeployedId;
  readonly trigger: Trigger;
  readonly receivedAt: number;
}

export interface InvocationPage {
  readonly limit: number;
  /** Exclusive. */
  readonly before?: InvocationId;
}

export type EndedCall = Pick<Invocation, "id" | "startedAt" | "durationMs" | "outcome">;

export interface RunStore {
  /** All earlier fences become stale, so of two hosts the later one may write. */
  open(id: DeployedId): Promise<OpenedSource>;
  /**
   * Writes the whole call in one transaction, with a delivery for each listener. Deletes the pending request of the
   * same id and settles the delivery that triggered the run. Durable when it resolves. Throws PD_NOT_STORED, without
   * writing, when the fence is stale or the disk is full. Throws PD_IN_DOUBT when the answer was lost. Then nothing may
   * run again before `committed` has answered.
   */
  commit(run: RunCommit): Promise<Committed>;
  /**
   * Undefined when the commit is not stored and never will be. Throws PD_IN_DOUBT while that is unknown, never in the
   * same process.
   */
  committed(id: InvocationId): Promise<Committed | undefined>;
  /** If the outcome is in doubt, the caller must not retry. It drops its in-memory state and reloads it from the store. */
  append(addendum: Addendum): Promise<Committed>;
  /** Keeps a trigger until its run is committed. Idempotent, also after the commit. Throws PD_NOT_STORED when the source is gone, and PD_IN_DOUBT. */
  storePending(request: PendingRequest): Promise<void>;
  /** In the order of arrival. */
  listPending(of: readonly DeployedId[]): Promise<readonly PendingRequest[]>;

  getInvocation(id: InvocationId): Promise<Invocation | undefined>;
  /** Newest first. */
  listInvocations(sourceId: DeployedId, page: InvocationPage): Promise<readonly Invocation[]>;
  /** Newest first, without triggers. */
  listOutcomes(sourceId: DeployedId, limit: number): Promise<readonly EndedCall[]>;
  invocationLogs(id: InvocationId): Promise<readonly LogLine[]>;

  /** Key → JSON text. */
  readState(id: DeployedId): Promise<Readonly<Record<string, string>>>;
  /** `$.service.db` of an action, whose id is its key or the hash of its code. */
  readActionState(action: string): Promise<Readonly<Record<string, string>>>;
  writeActionState(action: string, changes: StateChanges): Promise<void>;
  readCache(id: DeployedId): Promise<DedupeCache>;
  /**
   * Throws PD_NOT_STORED when the fence is stale. The owner of the fence must inform its units. Without a fence, all
   * fences become stale, so an owner elsewhere reloads the state.
   */
  writeState(id: DeployedId, changes: StateChanges, fence?: number): Promise<void>;
}
