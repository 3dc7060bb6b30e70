import type { HookName } from "./component.ts";
import type { Emit } from "./event.ts";
import type { ThirdParties } from "./exchange.ts";
import type { DeployedId, InvocationId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Trigger } from "./trigger.ts";

/** What a component threw. */
export interface RunError {
  readonly name: string;
  readonly message: string;
  /** Stack whose frames name the author's files. */
  readonly stack: string;
  /** `file:line:column` of the first frame in the author's code. */
  readonly at?: string;
  /** What has led to it, one line each: causes, errors of an AggregateError, what a third party answered. */
  readonly causes?: readonly string[];
}

/** How a call of `run` or of a hook ended. */
export type Outcome =
  | { readonly kind: "returned" }
  | { readonly kind: "threw"; readonly error: RunError }
  | { readonly kind: "timed-out"; readonly afterMs: number }
  | { readonly kind: "out-of-memory"; readonly limitMb: number }
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null }
  /** The process ended for a reason that lies in another invocation, or the server stopped. */
  | { readonly kind: "interrupted"; readonly reason: string };

/** Where a line was written: the console level, or the stream that was written to directly. */
export type LogLevel = "debug" | "info" | "log" | "warn" | "error" | "trace" | "stdout" | "stderr" | "system";

export interface LogLine {
  /** Epoch ms. */
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
  /** `file:line` in the author's code. */
  readonly from?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** A list becomes as many header lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** What is sent after `body`, while the component makes it. */
  readonly rest?: BodyStream;
}

/** A body in parts. Its maker waits for its reader: whoever gets one reads it or gives it up. */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  giveUp(): void;
}

/** Why a response could not be used; the client gets 500. */
export interface BadResponse {
  readonly problem: string;
}

/** One call, as the component's process reports it: plain data, nothing has happened to the store yet. */
export interface RunResult {
  readonly outcome: Outcome;
  readonly emits: readonly Emit[];
  /** Changed keys and their current values; `null`… is a value, `undefined` clears the key. */
  readonly stateChanges: StateChanges;
  /** Absent: it touched nothing. */
  readonly touched?: TouchedKeys | undefined;
  readonly logs: readonly LogLine[];
  /** It ended its process itself: nobody else is to blame. */
  readonly hasExited?: true | undefined;
  /** What `run` returned, as JSON text; absent when it returned nothing that JSON can carry. */
  readonly returned?: string | undefined;
  /** What an action did through `$`, as JSON text, however it ended. */
  readonly report?: string | undefined;
}

/** Key → how many changes of others its process had seen when the call first read or wrote it. */
export type TouchedKeys = Readonly<Record<string, number>>;

/** Key → its value as it is stored, and as of how many changes of others. */
export type StoredValues = Readonly<Record<string, { readonly text: string | null; readonly epoch: number }>>;

/** Key → JSON text of the value; `null` clears the key. */
export type StateChanges = Readonly<Record<string, string | null>>;

/** One page of a prop's choices is asked for (components.md, Async options). */
export interface OptionsRequest {
  readonly prop: string;
  /** From 0. */
  readonly page: number;
  /** What the page before returned as context; at first an empty object (registry.md §3). */
  readonly prevContext: JsonObject;
  /** Typed text, for props that search. */
  readonly query?: string;
}

/** What an action's `$` and `steps` tell it (platform.md §4.7). */
export interface ActionContext {
  /** Outputs of earlier steps, by their names. */
  readonly steps: JsonObject;
  /** `$.context`. */
  readonly context: JsonObject;
  /** Absent: they are asked, and nothing is noted. */
  readonly thirdParties?: ThirdParties;
}

/** Expressions of a workflow's props that only JavaScript can tell. */
export interface EvaluateMethod extends ActionContext {
  readonly expressions: readonly string[];
}

/** What is called. All but `run`, hooks and actions leave nothing behind. */
export type Method =
  | { readonly kind: "run"; readonly trigger: Trigger }
  | { readonly kind: "hook"; readonly hook: HookName }
  | ({ readonly kind: "action" } & ActionContext)
  | ({ readonly kind: "evaluate" } & EvaluateMethod)
  /** One page of a prop's choices. */
  | ({ readonly kind: "options" } & OptionsRequest)
  /** What `additionalProps` declares for the given values. */
  | { readonly kind: "additional-props" }
  /** Which events an app hook wants. */
  | { readonly kind: "event-names"; readonly prop: string };

/** One recorded call of `run` or of a hook. */
export interface Invocation {
  readonly id: InvocationId;
  readonly sourceId: DeployedId;
  readonly trigger: Trigger;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** Events that were kept. */
  readonly eventCount: number;
  /** Why dedupe dropped emits, with how often. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Status of the HTTP response that was sent. */
  readonly responseStatus?: number | undefined;
  /** The invocation whose trigger this one repeats. */
  readonly replayOf?: InvocationId | undefined;
  readonly returned?: string | undefined;
  /** Of the source, that it ran on; absent: it ran before versions were kept. */
  readonly version?: number | undefined;
}

export function isFailed(outcome: Outcome): boolean {
  return outcome.kind !== "returned";
}

/** One line that tells a person how a call ended. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "returned":
      return "ok";
    case "threw":
      return describeError(outcome.error);
    case "timed-out":
      return `timed out after ${outcome.afterMs / 1000} s`;
    case "out-of-memory":
      return `ran out of memory: the limit is ${outcome.limitMb} MB`;
    case "exited":
      return outcome.signal === null ? `ended its process with code ${outcome.code}` : `its process was ended by ${outcome.signal}`;
    case "interrupted":
      return `interrupted: ${outcome.reason}`;
  }
}

function describeError({ name, message, at, causes = [] }: RunError): string {
  return [`${name}: ${message}${at === undefined ? "" : ` (${at})`}`, ...causes.map((cause) => `Caused by: ${cause}`)].join(". ");
}

/** Why a call for an answer failed: a ConfigurationError speaks to whoever configures, and says it all (platform.md §4.3). */
export function reasonOf(outcome: Outcome): string {
  return outcome.kind === "threw" && outcome.error.name === "ConfigurationError" ? outcome.error.message : describeOutcome(outcome);
}

/** The record's shape for programs that need an error with one message. */
export function outcomeDetails(outcome: Outcome): JsonObject {
  if (outcome.kind !== "threw") return { outcome: outcome.kind, message: describeOutcome(outcome) };
  const { error } = outcome;
  return {
    outcome: "threw",
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.at === undefined ? {} : { at: error.at }),
    ...(error.causes === undefined ? {} : { causes: [...error.causes] }),
  };
}
