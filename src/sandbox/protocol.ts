import type { Emit } from "../domain/event.ts";
import type { InvocationId } from "../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLine, Method, Outcome, StateChanges, StoredValues, TouchedKeys } from "../domain/invocation.ts";
import type { DataStoreRequest } from "../domain/data-store.ts";
import type { OutsideRequest } from "../domain/exchange.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ConfiguredProps } from "../domain/props/declared-props.ts";
import type { RunFileRequest } from "../domain/run-files.ts";
import type { PropFacts } from "../domain/props/prop-kind.ts";

/** Changes when a message changes; a child of another version is refused. */
export const PROTOCOL = 12;

/** Host of the hosted platform's API. */
export const HOSTED_API = "api.pipedream.com";

/** A process that may start programs is started with this word. */
export const PROGRAMS_WORD = "--starts-programs";

/** Programs or native code of the process read `/tmp` themselves: the calls of the process use that folder, one at a time. */
export const ONE_TMP_WORD = "--one-tmp";

/** A process that is not Node's is told how many MB its code may take. */
export const MEMORY_WORD = "--memory=";

/** Position in a bundle that the host turns into the author's file and line. */
export interface RawLogLine extends LogLine {
  /** Stack line of the console call. */
  readonly rawFrom?: string;
}

export interface HostCall {
  readonly type: "host:call";
  readonly id: InvocationId;
  readonly method: Method;
  readonly configured: ConfiguredProps;
  readonly endpoint: string;
  readonly dynamicProps: readonly PropFacts[];
  readonly asksHost?: true | undefined;
  readonly nowMs?: number | undefined;
  /** `/tmp` is that of its run. */
  readonly files?: { readonly isEmpty: boolean } | undefined;
}

/** What the host says. All messages travel as JSON. */
export type ToChild =
  | {
      readonly type: "host:load";
      /** URL of the bundle's file. */
      readonly url: string;
      /** URLs of modules that are loaded before it, in this order. */
      readonly preloads: readonly string[];
      /** Where calls of the hosted platform's API are led; absent: the component makes none. */
      readonly platformApi?: string;
      /** It may ask nobody, from its first line on. */
      readonly isCutOff?: true;
      readonly env: Readonly<Record<string, string>>;
      readonly state: Readonly<Record<string, string>>;
      /** How many changes this state is the result of. */
      readonly epoch: number;
    }
  | { readonly type: "host:preload"; readonly url: string }
  /** To one that waits: the code may import packages. */
  | { readonly type: "host:expect-packages" }
  | HostCall
  /** To the question of this number; `error`: the message to throw. */
  | { readonly type: "host:answer"; readonly number: number; readonly value?: JsonValue; readonly error?: string }
  | { readonly type: "host:state"; readonly changes: StateChanges; readonly epoch: number }
  | { readonly type: "host:restore"; readonly stored: StoredValues }
  /** The host has settled this call: nothing of it will be stored. */
  | { readonly type: "host:abandon"; readonly id: InvocationId }
  | { readonly type: "host:ping" }
  | { readonly type: "host:stop" };

/** A call of `run` as it travels, with a trigger that is JSON text already. */
export function runText({ type, id, configured, endpoint, dynamicProps, asksHost, nowMs }: HostCall, triggerText: string): string {
  const rest = JSON.stringify({ type, id, configured, endpoint, dynamicProps, asksHost, nowMs });
  return `${rest.slice(0, -1)},"method":{"kind":"run","trigger":${triggerText}}}`;
}

/** What a call did since it was last reported. */
export interface CallPart {
  readonly emits: readonly Emit[];
  readonly stateChanges: StateChanges;
  readonly touched: TouchedKeys;
}

/** The next part of the body of a response. The last one has no bytes; with `problem` the rest is missing. The answer: whether anybody reads it. */
export interface BodyPart {
  readonly operation: "send-body";
  readonly base64: string;
  readonly isLast: boolean;
  readonly problem?: string;
}

/** Bytes of a body that travel together. */
export const BODY_PART = 192 * 1024;

/** What a call may ask the host. */
export type HostQuestion = DataStoreRequest | OutsideRequest | RunFileRequest | BodyPart;

/** What the child says. */
export type ToHost =
  | { readonly type: "child:ready"; readonly protocol: number }
  | { readonly type: "child:pong"; readonly memoryBytes: number }
  | { readonly type: "child:preloaded" }
  | { readonly type: "child:loaded"; readonly definition: unknown }
  | { readonly type: "child:load-failed"; readonly outcome: Outcome }
  | { readonly type: "child:ask"; readonly id: InvocationId; readonly number: number; readonly request: HostQuestion }
  | { readonly type: "child:log"; readonly id: InvocationId | null; readonly line: RawLogLine }
  | {
      readonly type: "child:respond";
      readonly id: InvocationId;
      readonly response: HttpResponse | BadResponse;
      readonly isUnsettled: boolean;
      readonly isStreamed?: true | undefined;
    }
  /** A call that emits much tells of it as it goes; none of it counts before the call is done. */
  | { readonly type: "child:emitted"; readonly id: InvocationId; readonly emits: readonly Emit[] }
  | {
      readonly type: "child:done";
      readonly id: InvocationId;
      readonly outcome: Outcome;
      readonly part: CallPart;
      readonly returned?: string | undefined;
      readonly report?: string | undefined;
    }
  /** The process is about to end because this call has ended it. */
  | { readonly type: "child:exiting"; readonly id: InvocationId }
  | { readonly type: "child:late"; readonly id: InvocationId; readonly part: CallPart; readonly outcome?: Outcome };
