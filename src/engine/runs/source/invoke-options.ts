import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import type { CallReport } from "../../../ports/runner.ts";
import type { EventFeed } from "../commits/event-feed.ts";
import type { InvocationId } from "../../../domain/ids.ts";
import type { BadResponse, HttpResponse, Outcome } from "../../../domain/run/invocation.ts";

export interface InvokeOptions {
  readonly id?: InvocationId | undefined;
  readonly replayOf?: InvocationId | undefined;
  /** Called at most once per try, before the run ends. */
  readonly onResponse?: ((response: HttpResponse | BadResponse, isUnsettled: boolean) => void) | undefined;
  /** Called when a try does not count: its response is void and the run is repeated. */
  readonly onVoid?: (() => void) | undefined;
  /** Called when the result counts, before it is stored. */
  readonly onEnded?: (() => void) | undefined;
  /** HTTP status that the client received. Called after the run has ended. */
  readonly responseStatus?: ((outcome: Outcome) => number | undefined) | undefined;
}

interface ReportedCall {
  readonly source: Pick<DeployedComponent, "id" | "workflowId">;
  readonly id: InvocationId;
  readonly options: InvokeOptions;
}

/** Shows the lines of a call while it runs, and hands its answer over. */
export function callReport(feed: EventFeed, { source, id, options }: ReportedCall): CallReport {
  return {
    log: (line) => {
      feed.observe(source.id, { kind: "line", id, line });
      // Readers follow the workflow, not its trigger.
      if (source.workflowId !== undefined) feed.observe(source.workflowId, { kind: "line", id, line });
    },
    respond: (response, isUnsettled) => options.onResponse?.(response, isUnsettled),
    takesStreams: options.onResponse !== undefined,
  };
}
