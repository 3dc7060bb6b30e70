import type { HookName } from "../component/component.ts";
import type { Emit } from "../event/event.ts";
import type { ThirdParties } from "./exchange.ts";
import type { DeployedId, InvocationId } from "../ids.ts";
import type { JsonObject } from "../text/json.ts";
import type { Trigger } from "./trigger.ts";

export interface RunError {
  readonly name: string;
  readonly message: string;
  /** The frames name the author's files. */
  readonly stack: string;
  /** `file:line:column` of the author's first frame. */
  readonly at?: string;
  /** A cause, an error of an AggregateError, or a response of a third party. */
  readonly causes?: readonly string[];
}

export type Outcome =
  | { readonly kind: "returned" }
  | { readonly kind: "threw"; readonly error: RunError }
  | { readonly kind: "timed-out"; readonly afterMs: number }
  | { readonly kind: "out-of-memory"; readonly limitMb: number }
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null }
  /** Another invocation ended the process, or the server stopped. */
  | { readonly kind: "interrupted"; readonly reason: string };

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
  /** A list becomes one header line per item. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** Sent after `body`. */
  readonly rest?: BodyStream;
}

/** The producer waits for the reader. Consume the stream, or call `giveUp`. */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  giveUp(): void;
}

/** The client gets 500. */
export interface BadResponse {
  readonly problem: string;
}

/** A call, as its process reports it. Nothing is stored yet. */
export interface RunResult {
  readonly outcome: Outcome;
  readonly emits: readonly Emit[];
  readonly stateChanges: StateChanges;
  readonly touched?: TouchedKeys | undefined;
  readonly logs: readonly LogLine[];
  /** No other call is to blame. */
  readonly hasExited?: true | undefined;
  /** JSON text. Omitted when JSON cannot represent the value. */
  readonly returned?: string | undefined;
  /** Effects of an action through `$`, as JSON text. */
  readonly report?: string | undefined;
}

/** Key → number of changes by others when the call first used the key. */
export type TouchedKeys = Readonly<Record<string, number>>;

/** Key → stored value, and the number of changes by others at that time. */

/** Key → JSON text. `null` clears the key. */
export type StateChanges = Readonly<Record<string, string | null>>;

export interface OptionsRequest {
  readonly prop: string;
  /** From 0. */
  readonly page: number;
  /** `context` of the previous page. Empty for the first page. */
  readonly prevContext: JsonObject;
  /** Search text. */
  readonly query?: string;
}

export interface ActionContext {
  readonly steps: JsonObject;
  readonly context: JsonObject;
  /** Omitted when requests are sent and not recorded. */
  readonly thirdParties?: ThirdParties;
}

/** Expressions in a workflow's props that need a JavaScript engine. */
export interface EvaluateMethod extends ActionContext {
  readonly expressions: readonly string[];
}

/** Only `run`, hooks and actions have lasting effects. */
export type Method =
  | { readonly kind: "run"; readonly trigger: Trigger }
  | { readonly kind: "hook"; readonly hook: HookName }
  | ({ readonly kind: "action" } & ActionContext)
  | ({ readonly kind: "evaluate" } & EvaluateMethod)
  | ({ readonly kind: "options" } & OptionsRequest)
  | { readonly kind: "additional-props" }
  | { readonly kind: "event-names"; readonly prop: string };

export interface Invocation {
  readonly id: InvocationId;
  readonly sourceId: DeployedId;
  readonly trigger: Trigger;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** After dedupe. */
  readonly eventCount: number;
  /** Reason → number of emits. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly responseStatus?: number | undefined;
  readonly replayOf?: InvocationId | undefined;
  readonly returned?: string | undefined;
  /** Omitted in records from before versions were kept. */
  readonly version?: number | undefined;
}

export function isFailed(outcome: Outcome): boolean {
  return outcome.kind !== "returned";
}

/** The word for people. The API and the database keep their older values. */
export function outcomeWord(outcome: string): string {
  switch (outcome) {
    case "returned":
      return "succeeded";
    case "timed-out":
      return "timed out";
    case "threw":
    case "exited":
    case "out-of-memory":
      return "failed";
    default:
      return outcome;
  }
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "returned":
      return "succeeded";
    case "threw":
      return describeError(outcome.error);
    case "timed-out":
      return `timed out after ${outcome.afterMs / 1000} s`;
    case "out-of-memory":
      return `ran out of memory: the limit is ${outcome.limitMb} MB`;
    case "exited":
      return outcome.signal === null ? `its process exited with code ${outcome.code}` : `its process was killed by ${outcome.signal}`;
    case "interrupted":
      return `interrupted: ${outcome.reason}`;
  }
}

function describeError({ name, message, at, causes = [] }: RunError): string {
  const told = `${name}: ${message}`;
  // Some libraries wrap an error in another one with the same message.
  const others = causes.filter((cause) => cause !== told);
  return [`${told}${at === undefined ? "" : ` (${at})`}`, ...others.map((cause) => `Caused by: ${cause}`)].join(". ");
}

/** A ConfigurationError is a complete message for the user. */
export function reasonOf(outcome: Outcome): string {
  return outcome.kind === "threw" && outcome.error.name === "ConfigurationError" ? outcome.error.message : describeOutcome(outcome);
}

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
