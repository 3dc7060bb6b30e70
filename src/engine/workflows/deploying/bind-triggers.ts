import { type TriggerId, isDeployedId, isTriggerId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { scheduleInput } from "../../../domain/timer/schedule.ts";
import type { Heard, WorkflowBinding } from "../../../domain/workflow/binding.ts";
import type { WorkflowTrigger } from "../../../domain/workflow/workflow.ts";
import { WORKFLOW_FILE } from "./build-workflow.ts";

export type BoundTrigger =
  | { readonly kind: "http"; readonly id: TriggerId }
  | { readonly kind: "schedule"; readonly id: TriggerId; readonly timer: JsonObject }
  | { readonly kind: "events"; readonly id: string; readonly channel: string };

export interface Bindings {
  /** In the order of the file. Undefined for a trigger that cannot be bound. */
  readonly triggers: readonly (BoundTrigger | undefined)[];
  readonly warnings: readonly string[];
}

interface Surroundings {
  readonly binding: WorkflowBinding;
  readonly isFree: (id: string) => boolean;
  /** Returns the id. */
  readonly emitter: (idOrSlug: string) => string | undefined;
  readonly newId: () => string;
}

/** Triggers keep their ids. */
export function bindTriggers(triggers: readonly WorkflowTrigger[], around: Surroundings): Bindings {
  const warnings: string[] = [];
  const asked = new Set(triggers.flatMap((trigger) => (trigger.kind === "events" ? [] : (trigger.id ?? []))));
  const left = new Set(around.binding.triggers.filter((id): id is TriggerId => isTriggerId(id)));
  const take = (prefix: "hi_" | "ti_", wanted: string | undefined): TriggerId => {
    const own = isTriggerId(wanted) ? wanted : undefined;
    const known = own !== undefined && left.has(own) ? own : [...left].find((id) => id.startsWith(prefix) && !asked.has(id));
    if (known !== undefined) left.delete(known);
    return known ?? (own !== undefined && around.isFree(own) ? own : `${prefix}${around.newId()}`);
  };
  const bound = triggers.map((trigger): BoundTrigger | undefined => {
    if (trigger.kind === "http") return { kind: "http", id: take("hi_", trigger.id) };
    if (trigger.kind === "schedule") {
      const timer = trigger.schedule === undefined ? around.binding.schedules[trigger.id ?? ""] : { ...scheduleInput(trigger.schedule) };
      if (timer !== undefined) return { kind: "schedule", id: take("ti_", trigger.id), timer };
      warnings.push(`${WORKFLOW_FILE}: ${trigger.id ?? "its schedule"} does not fire, because it has no time: add schedule: { cron: … }, or use --schedule`);
      return undefined;
    }
    const wanted = around.binding.sources[trigger.emitter] ?? trigger.emitter;
    // The mapped source may be gone while another has the name in the file.
    const id = around.emitter(wanted) ?? around.emitter(trigger.emitter);
    if (id === undefined)
      warnings.push(`${WORKFLOW_FILE}: source or workflow ${wanted} does not exist here, so its events start no runs: deploy it, or map it with --source`);
    return id === undefined ? undefined : { kind: "events", id, channel: trigger.channel };
  });
  return { triggers: bound, warnings };
}

export function emittersOf(triggers: readonly (BoundTrigger | undefined)[]): readonly Heard[] {
  return triggers.flatMap((trigger) => {
    if (trigger === undefined || !isDeployedId(trigger.id)) return [];
    return [{ emitterId: trigger.id, channel: trigger.kind === "events" ? trigger.channel : "" }];
  });
}
