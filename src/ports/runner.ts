import type { InvocationId } from "../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLine, Method, Outcome, RunResult, StateChanges } from "../domain/run/invocation.ts";
import type { DataStoreRequest } from "../domain/source/data-store.ts";
import type { DebugLink } from "./debugger.ts";
import type { OutsideAnswer, OutsideRequest } from "../domain/run/exchange.ts";
import type { JsonValue } from "../domain/text/json.ts";
import type { ConfiguredProps } from "../domain/props/declared-props.ts";
import type { PropDeclaration } from "../domain/props/kinds.ts";
import type { ProcessGrant } from "../domain/source/process-grant.ts";
import type { RunFileRequest } from "../domain/run/run-files.ts";
import type { Bundle } from "../domain/component/saved-component.ts";

/** `wall` uses namespaces, `belt` only Node's permission model, `auto` the wall where available. */
export type SandboxUse = "auto" | "wall" | "belt";

/** `public` excludes this machine and its network, except for this server's API. */
export type ComponentNetwork = "open" | "public";

/** The unit becomes the only writer of `state`. */
export interface UnitCode extends ProcessGrant {
  readonly bundle: Bundle;
  readonly packagesPath?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  /** Requests to third parties never reach the network. */
  readonly isCutOff?: true;
  readonly debug?: DebugLink;
  /** Number of changes that led to `state`. 0 when omitted. */
  readonly epoch?: number;
}

/** Shared with other steps, as `/tmp`. */
export interface CallFiles {
  readonly isEmpty: boolean;
  /** Throws for a forbidden request. The step receives the message. */
  answer(request: RunFileRequest): Promise<JsonValue>;
}

export interface CallRequest {
  readonly id: InvocationId;
  readonly method: Method;
  /** JSON text when known. */
  readonly triggerText?: string | undefined;
  readonly configured: ConfiguredProps;
  readonly dynamicProps?: readonly PropDeclaration[] | undefined;
  /** Masked in output and errors. */
  readonly secrets: readonly string[];
  /** Data stores that the call may use. */
  readonly dataStores: readonly string[];
  /** Shown as `this.<http>.endpoint`. */
  readonly endpoint: string;
  readonly deadlineMs: number;
  /** Requests to third parties go to `UnitEvents.fetch`. */
  readonly asksHost?: true | undefined;
  /** Epoch ms. Omitted for the real time. */
  readonly nowMs?: number | undefined;
  /** Omitted when `/tmp` belongs to the process. */
  readonly files?: CallFiles | undefined;
}

export interface CallReport {
  log(line: LogLine): void;
  /** Called at most once. An unsettled response may depend on state that is not stored. It would be wrong if the call were cut off. */
  respond(response: HttpResponse | BadResponse, isUnsettled: boolean): void;
  /** `respond` gets a stream as `rest`, not the complete `body`. */
  readonly takesStreams?: boolean;
}

/** Effects of a call after it ended. `outcome` is set when the call failed after all. */
export interface LatePart {
  readonly id: InvocationId;
  readonly result: Pick<RunResult, "emits" | "stateChanges" | "touched" | "logs"> & { readonly outcome?: Outcome };
}

export interface UnitEvents {
  late(part: LatePart): void;
  /** Errors are thrown in the component. */
  ask?(request: DataStoreRequest): Promise<JsonValue | undefined>;
  /** Answers in place of third parties. Errors are thrown in the component. */
  fetch?(request: OutsideRequest): Promise<OutsideAnswer>;
  /** The unit is gone, and its calls are settled. */
  ended(): void;
}

export interface Unit {
  /** Unchecked. `readDefinition` checks it. */
  readonly definition: unknown;
  /** False once it has ended or was retired. */
  readonly isUsable: boolean;
  /**
   * Never rejects. Calls may overlap and share the state. Each reports its own writes, after the calls whose values it
   * has read and rewritten. When the process ends without `hasExited`, the cause is unknown.
   */
  call(request: CallRequest, report: CallReport): Promise<RunResult>;
  /** Undefined when the code blocks the process or the process has ended. */
  memoryBytes(): Promise<number | undefined>;
  /** Passes on what others wrote. `epoch` counts the changes, and calls report it with their keys. */
  patchState(changes: StateChanges, epoch: number): void;
  /** Accepts no more calls, waits for those in flight, then ends. With `isUnhurried` it ends a little later, after more urgent work. */
  retire(options?: { readonly isUnhurried?: boolean }): Promise<void>;
  /** Interrupts calls in flight. */
  kill(reason: string): void;
}

export interface Runner {
  /**
   * Throws PD_SANDBOX_UNAVAILABLE when nothing would enclose programs or native code, PD_LOAD_FAILED when the code
   * throws or hangs. After `signal` aborts, throws its reason if that is a PdError, otherwise PD_INTERRUPTED.
   */
  start(code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<Unit>;
  /** Loads these packages into a spare unit for the next `start`. */
  prepare(code: UnitCode): void;
}
