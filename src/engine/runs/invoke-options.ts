import type { InvocationId } from "../../domain/ids.ts";
import type { BadResponse, HttpResponse } from "../../domain/invocation.ts";

/** How a call of `run` differs from the plain one. */
export interface InvokeOptions {
  readonly id?: InvocationId | undefined;
  readonly replayOf?: InvocationId | undefined;
  /** Told at most once in each try, and before the run ends. */
  readonly onResponse?: ((response: HttpResponse | BadResponse, isUnsettled: boolean) => void) | undefined;
  /** Told when a try does not count: what it has answered is void, and the run is made again. */
  readonly onVoid?: (() => void) | undefined;
  /** Told when the run has ended and is about to be stored. */
  readonly onEnded?: (() => void) | undefined;
  /** Runs while nothing else of the source does: what ends its process now ends it by itself. */
  readonly isAlone?: boolean | undefined;
  /** Status that the client got, known when the run has ended. */
  readonly responseStatus?: (() => number | undefined) | undefined;
}
