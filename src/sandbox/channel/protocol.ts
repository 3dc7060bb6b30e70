import type { Emit } from "../../domain/event/event.ts";
import type { InvocationId } from "../../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLine, Method, Outcome, StateChanges, TouchedKeys } from "../../domain/run/invocation.ts";
import type { DataStoreRequest } from "../../domain/source/data-store.ts";
import type { OutsideRequest } from "../../domain/run/exchange.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import type { ConfiguredProps } from "../../domain/props/declared-props.ts";
import type { RunFileRequest } from "../../domain/run/run-files.ts";
import type { PropFacts } from "../../domain/props/prop-kind.ts";

/** Changes with every change to a message. A child with another version is refused. */
export const PROTOCOL = 14;

export const HOSTED_API = "api.pipedream.com";

export const PROGRAMS_WORD = "--starts-programs";

/** Given when programs or native code read `/tmp`. The process's calls share one folder and run one at a time. */
export const ONE_TMP_WORD = "--one-tmp";

/** Memory limit in MB of a process that does not run Node. */
export const MEMORY_WORD = "--memory=";

/** The host maps its position in the bundle to the author's file and line. */
export interface RawLogLine extends LogLine {
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
  /** Present when `/tmp` is that of the call's run. */
  readonly files?: { readonly isEmpty: boolean } | undefined;
}

export type ToChild =
  | {
      readonly type: "host:load";
      readonly url: string;
      readonly preloads: readonly string[];
      /** This server's API, which answers in place of the hosted platform's. Omitted when the component does not call it. */
      readonly platformApi?: string;
      /** Requests fail unless a recording or the host answers them, from the first line of the code. */
      readonly isCutOff?: true;
      readonly env: Readonly<Record<string, string>>;
      readonly state: Readonly<Record<string, string>>;
      readonly epoch: number;
    }
  | { readonly type: "host:preload"; readonly url: string }
  | { readonly type: "host:expect-packages" }
  | HostCall
  | { readonly type: "host:answer"; readonly number: number; readonly value?: JsonValue; readonly error?: string }
  | { readonly type: "host:state"; readonly changes: StateChanges; readonly epoch: number }
  /** The host settled this call and will not store its result. */
  | { readonly type: "host:abandon"; readonly id: InvocationId }
  | { readonly type: "host:ping" }
  | { readonly type: "host:stop" };

export function runText({ type, id, configured, endpoint, dynamicProps, asksHost, nowMs }: HostCall, triggerText: string): string {
  const rest = JSON.stringify({ type, id, configured, endpoint, dynamicProps, asksHost, nowMs });
  return `${rest.slice(0, -1)},"method":{"kind":"run","trigger":${triggerText}}}`;
}

export interface CallPart {
  readonly emits: readonly Emit[];
  readonly stateChanges: StateChanges;
  readonly touched: TouchedKeys;
}

/** The last part has no bytes. `problem` means that the rest is missing. The answer says whether more is needed. */
export interface BodyPart {
  readonly operation: "send-body";
  readonly base64: string;
  readonly isLast: boolean;
  readonly problem?: string;
}

export const BODY_PART = 192 * 1024;

export type HostQuestion = DataStoreRequest | OutsideRequest | RunFileRequest | BodyPart;

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
  /** Emits of a call that emits much. They count only when it is done. */
  | { readonly type: "child:emitted"; readonly id: InvocationId; readonly emits: readonly Emit[] }
  | {
      readonly type: "child:done";
      readonly id: InvocationId;
      readonly outcome: Outcome;
      readonly part: CallPart;
      readonly returned?: string | undefined;
      readonly report?: string | undefined;
    }
  | { readonly type: "child:exiting"; readonly id: InvocationId }
  | { readonly type: "child:late"; readonly id: InvocationId; readonly part: CallPart; readonly outcome?: Outcome };
