import type { DedupeCache, DedupeChange } from "../domain/dedupe.ts";
import type { Event, NewEvents, NewPostponedEvent } from "../domain/event.ts";
import type { DeployedId, InvocationId, ListenerId } from "../domain/ids.ts";
import type { Invocation, LogLine, Outcome, StateChanges } from "../domain/invocation.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { StepCommit } from "./workflow-store.ts";

/** What a source remembers, handed to the one host that may write it. */
export interface OpenedSource {
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  readonly cache: DedupeCache;
  readonly fence: number;
}

/** All that one call did. */
export interface RunCommit {
  readonly fence: number;
  readonly invocation: Invocation;
  /** The trigger of the invocation as JSON text, where it is known already: a body of megabytes is written out once. */
  readonly triggerText?: string | undefined;
  readonly events: NewEvents;
  readonly postponed?: readonly NewPostponedEvent[] | undefined;
  readonly stateChanges: StateChanges;
  /** What dedupe is to remember besides; absent: nothing. */
  readonly learned?: DedupeChange | undefined;
  readonly logs: readonly LogLine[];
  /** The call was a step of a workflow. */
  readonly step?: StepCommit | undefined;
}

/** What a call did after it had been committed. */
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

/** What a commit has stored. */
export interface Committed {
  readonly events: readonly Event[];
  /** Who got a delivery that is due. */
  readonly listeners: readonly ListenerId[];
}

/** A trigger that was acknowledged before its run ended. */
export interface PendingRequest {
  readonly id: InvocationId;
  readonly sourceId: DeployedId;
  readonly trigger: Trigger;
  readonly receivedAt: number;
}

export interface InvocationPage {
  readonly limit: number;
  /** Only older ones than this. */
  readonly before?: InvocationId;
}

/** What is told of a call in short. */
export type EndedCall = Pick<Invocation, "id" | "startedAt" | "durationMs" | "outcome">;

/** Runs, and what they leave behind. */
export interface RunStore {
  /** Hands out what a source remembers, and a fence. Each call makes every earlier fence of this source stale: of two hosts the later one may write. */
  open(id: DeployedId): Promise<OpenedSource>;
  /**
   * Events, cache, state, invocation, logs and a delivery for each listener in one transaction, and the pending
   * request of the same id goes with it; so does the delivery that was its trigger. Durable when it resolves. Commits that wait at the same time share a transaction.
   * Throws PD_NOT_STORED, having written nothing: when the fence is stale, when the disk is full. Throws PD_IN_DOUBT when
   * the answer was lost: then `committed` tells what became of it, and until it has nothing may be run again.
   */
  commit(run: RunCommit): Promise<Committed>;
  /**
   * What became of a commit in doubt. `undefined`: it is not stored, and will not be. Throws PD_IN_DOUBT while nobody can
   * tell. A store that always answers, as one in the same process, is never in doubt.
   */
  committed(id: InvocationId): Promise<Committed | undefined>;
  /** What is in doubt of it is not asked again: who wrote it gives its memory up and goes on from what is stored. */
  append(addendum: Addendum): Promise<Committed>;
  /** Keeps an acknowledged trigger until its run is committed. May be asked again: what is kept, or was committed, stays as it is. Throws PD_NOT_STORED when the source is gone. */
  storePending(request: PendingRequest): Promise<void>;
  /** Of these sources, in the order in which they came. */
  listPending(of: readonly DeployedId[]): Promise<readonly PendingRequest[]>;

  getInvocation(id: InvocationId): Promise<Invocation | undefined>;
  /** Newest first. */
  listInvocations(sourceId: DeployedId, page: InvocationPage): Promise<readonly Invocation[]>;
  /** How the newest calls ended, newest first, without what they were called with. */
  listOutcomes(sourceId: DeployedId, limit: number): Promise<readonly EndedCall[]>;
  invocationLogs(id: InvocationId): Promise<readonly LogLine[]>;

  /** Key → JSON text. */
  readState(id: DeployedId): Promise<Readonly<Record<string, string>>>;
  /** What an action keeps in `$.service.db`: key → JSON text. `action`: its key, or the hash of its code. */
  readActionState(action: string): Promise<Readonly<Record<string, string>>>;
  writeActionState(action: string, changes: StateChanges): Promise<void>;
  /** As it was after the last commit. */
  readCache(id: DeployedId): Promise<DedupeCache>;
  /**
   * Writes past the component. With the fence of its owner, who tells its units; throws PD_NOT_STORED when that is stale.
   * Without one every earlier fence becomes stale, so that an owner elsewhere begins anew with what is stored.
   */
  writeState(id: DeployedId, changes: StateChanges, fence?: number): Promise<void>;
}
