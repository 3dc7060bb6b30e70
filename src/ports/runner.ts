import type { InvocationId } from "../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLine, Method, Outcome, RunResult, StateChanges, StoredValues } from "../domain/invocation.ts";
import type { DataStoreRequest } from "../domain/data-store.ts";
import type { DebugLink } from "./debugger.ts";
import type { OutsideAnswer, OutsideRequest } from "../domain/exchange.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ConfiguredProps } from "../domain/props/declared-props.ts";
import type { PropDeclaration } from "../domain/props/kinds.ts";
import type { ProcessGrant } from "../domain/process-grant.ts";
import type { RunFileRequest } from "../domain/run-files.ts";
import type { Bundle } from "../domain/saved-component.ts";

/** What encloses units. `wall`: namespaces of their own; `belt`: Node's permission model alone; `auto`: the wall where it can be had. */
export type SandboxUse = "auto" | "wall" | "belt";

/** What components reach. `public`: neither this machine nor its network, but for the API of this server. */
export type ComponentNetwork = "open" | "public";

/** What a unit is started with; afterwards it is the only writer of `state`. */
export interface UnitCode extends ProcessGrant {
  readonly bundle: Bundle;
  /** Folder whose `node_modules` the bundle's imports resolve in. */
  readonly packagesPath?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  /** It reaches nobody: only what its calls are answered for. */
  readonly isCutOff?: true;
  /** Whoever debugs it. */
  readonly debug?: DebugLink;
  /** How many changes this state is the result of; 0 when left out. */
  readonly epoch?: number;
}

/** The files that a step shares with the other steps of its run, as `/tmp`. */
export interface CallFiles {
  readonly isEmpty: boolean;
  /** Throws for what is not allowed, with a text that the step is told. */
  answer(request: RunFileRequest): Promise<JsonValue>;
}

export interface CallRequest {
  readonly id: InvocationId;
  readonly method: Method;
  /** The trigger of a `run` as JSON text, where it is known already. */
  readonly triggerText?: string | undefined;
  readonly configured: ConfiguredProps;
  /** What `additionalProps` has declared for these values. */
  readonly dynamicProps?: readonly PropDeclaration[] | undefined;
  /** Texts that stars stand for in what it prints and throws. */
  readonly secrets: readonly string[];
  /** Names of the data stores that the call may reach. */
  readonly dataStores: readonly string[];
  /** What `this.<http>.endpoint` shows. */
  readonly endpoint: string;
  readonly deadlineMs: number;
  /** What it asks of third parties is asked of the host, by `UnitEvents.fetch`. */
  readonly asksHost?: true | undefined;
  /** The time that it sees, epoch ms; absent: the real one. */
  readonly nowMs?: number | undefined;
  /** Absent: `/tmp` is the process's own. */
  readonly files?: CallFiles | undefined;
}

/** What leaves a call before it ends. */
export interface CallReport {
  log(line: LogLine): void;
  /** At most once. `isUnsettled`: it may tell of state that is not stored, and would be wrong if the call were cut off. */
  respond(response: HttpResponse | BadResponse, isUnsettled: boolean): void;
  /** `respond` gets a body that is a stream as `rest`, while it is made; absent: when it is whole, as `body`. */
  readonly takesStreams?: boolean;
}

/** What a call did after it was reported as ended; `outcome` only when it failed after all. */
export interface LatePart {
  readonly id: InvocationId;
  readonly result: Pick<RunResult, "emits" | "stateChanges" | "touched" | "logs"> & { readonly outcome?: Outcome };
}

export interface UnitEvents {
  late(part: LatePart): void;
  /** A call wants something of a data store that it may reach; what is thrown is thrown there. */
  ask?(request: DataStoreRequest): Promise<JsonValue | undefined>;
  /** Answers for third parties, in calls that say so; what is thrown is thrown there. */
  fetch?(request: OutsideRequest): Promise<OutsideAnswer>;
  /** The unit is gone, for whatever reason; calls in flight were settled before. */
  ended(): void;
}

/** Loaded code that can be called, isolated from the host. */
export interface Unit {
  /** The definition as plain, unchecked data; `readDefinition` judges it. */
  readonly definition: unknown;
  /** False once it ended or was retired: start another. */
  readonly isUsable: boolean;
  /**
   * Never rejects: what goes wrong is the result's outcome. Calls may overlap, and share the state; each reports what it
   * wrote itself, after those whose values it has read and written anew. Of a call that did not end its process by
   * itself (`hasExited`) nobody knows whether it is to blame for that end.
   */
  call(request: CallRequest, report: CallReport): Promise<RunResult>;
  /** Bytes of memory that it takes up, as far as it tells; `undefined`: its code blocks it, or it has ended. */
  memoryBytes(): Promise<number | undefined>;
  /** Tells the unit what others wrote. `epoch`: how many changes there have been; calls report it with the keys that they touch. */
  patchState(changes: StateChanges, epoch: number): void;
  /** Tells the unit what is stored, after a call of it was given up that had not known of that. */
  restoreState(stored: StoredValues): void;
  /** Takes no more calls, lets those in flight finish, then ends: a little later when whatever follows it has to come first. */
  retire(options?: { readonly isUnhurried?: boolean }): Promise<void>;
  /** Ends at once; calls in flight are interrupted. */
  kill(reason: string): void;
}

/** Starts units; one plug runs them in child processes. */
export interface Runner {
  /**
   * Throws PD_SANDBOX_UNAVAILABLE for code that may start programs or load native code where nothing encloses it, PD_LOAD_FAILED when the code throws or hangs
   * while it is loaded. `signal`: nobody wants it any more; what has not been loaded by then throws its reason where that is a PdError, else
   * PD_INTERRUPTED with that.
   */
  start(code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<Unit>;
  /** Gets a unit ready that has these packages loaded: the next `start` of such code will be quick. */
  prepare(code: UnitCode): void;
}
