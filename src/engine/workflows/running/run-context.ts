import { isoTime } from "../../../domain/event/event.ts";
import type { WorkflowId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { type WorkflowRun, deploymentIdOf, originOf } from "../../../domain/workflow/run.ts";

interface RunOwner {
  readonly id: WorkflowId;
  readonly name: string;
  readonly ownerId: string;
}

/** `$.context` */
export function runContext({ id, name, ownerId }: RunOwner, run: WorkflowRun): JsonObject {
  return {
    id: run.id,
    ts: isoTime(run.startedAt),
    owner_id: ownerId,
    workflow_id: id,
    workflow_name: name,
    deployment_id: deploymentIdOf(run),
    trace_id: run.id,
    test: false,
    replay: run.rerunOf !== undefined,
  };
}

/** `steps.trigger.context` */
export function triggerContext(owner: RunOwner, run: WorkflowRun): JsonObject {
  const { emitterId, channel } = run.trigger;
  return {
    ...runContext(owner, run),
    ...originOf(run),
    ...(emitterId === undefined ? {} : { emitter_id: emitterId }),
    ...(channel === undefined || channel === "" ? {} : { event_name: channel }),
  };
}
