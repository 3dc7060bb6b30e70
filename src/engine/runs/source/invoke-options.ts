import type { InvocationId } from "../../../domain/ids.ts";
import type { BadResponse, HttpResponse } from "../../../domain/run/invocation.ts";

export interface InvokeOptions {
  readonly id?: InvocationId | undefined;
  readonly replayOf?: InvocationId | undefined;
  /** Called at most once per try, before the run ends. */
  readonly onResponse?: ((response: HttpResponse | BadResponse, isUnsettled: boolean) => void) | undefined;
  /** Called when a try does not count: its response is void and the run is repeated. */
  readonly onVoid?: (() => void) | undefined;
  readonly onEnded?: (() => void) | undefined;
  /** No other call of the source runs. If the process ends, this call ended it. */
  readonly isAlone?: boolean | undefined;
  /** HTTP status that the client received. Called after the run has ended. */
  readonly responseStatus?: (() => number | undefined) | undefined;
}
