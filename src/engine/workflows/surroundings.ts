import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { ChangePorts } from "../sources/change-ports.ts";
import type { Hosting } from "../sources/hosted-sources.ts";
import type { WorkflowBuildPorts } from "./deploying/build-workflow.ts";
import type { LiveWorkflow } from "./running/live-workflow.ts";

export type WorkflowChangePorts = ChangePorts & WorkflowBuildPorts;

export interface WorkflowSurroundings {
  readonly hosting: Hosting;
  add(live: LiveWorkflow): void;
  remove(live: LiveWorkflow): void;
  isKnown(id: string): boolean;
  emitter(idOrSlug: string): string | undefined;
  make(source: DeployedComponent): LiveWorkflow;
  forget(trigger: LiveSource): void;
  triggersOf(live: LiveWorkflow): readonly LiveSource[];
}
