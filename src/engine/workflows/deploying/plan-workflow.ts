import { accountsIn } from "../plan.ts";
import type { PdError } from "../../../domain/errors.ts";
import type { Origin } from "../../../domain/component/saved-component.ts";
import { variablesRead } from "../../../domain/component/variables-read.ts";
import { memoryNotes } from "../../../domain/workflow/memory-wish.ts";
import type { WorkflowTrigger } from "../../../domain/workflow/workflow.ts";
import { everyStep } from "../../../domain/workflow/workflow.ts";
import { MAIL_ACCOUNT } from "../../../domain/account/mail.ts";
import { storesIn } from "./bind-stores.ts";
import { type BuildWishes, type WorkflowBuildPorts, WORKFLOW_FILE, buildWorkflow } from "./build-workflow.ts";

/** Comes from elsewhere, with its default replacement. */
export interface PlannedId {
  readonly id: string;
  readonly kind: "account" | "data store" | "source" | "schedule" | "endpoint";
  readonly app?: string;
  readonly usedBy: readonly string[];
  /** Omitted when it has no replacement yet. */
  readonly here?: string;
}

export interface PlannedComponent {
  readonly step: string;
  readonly key: string;
  readonly version: string;
  readonly origin: Origin;
}

export interface PlannedFolder {
  readonly name: string;
  readonly isInactive: boolean;
  readonly failures: readonly PdError[];
  readonly warnings: readonly string[];
  readonly ids: readonly PlannedId[];
  readonly components: readonly PlannedComponent[];
  readonly variables: readonly string[];
}

interface PlanPorts {
  readonly build: WorkflowBuildPorts;
  /** Returns the slug. */
  readonly emitter: (idOrSlug: string) => string | undefined;
  readonly stores: readonly string[];
}

type PlanWishes = Pick<BuildWishes, "files" | "env" | "grant" | "progress">;

/** Loads every step, and reports all problems together. */
export async function planFolder({ build, emitter, stores }: PlanPorts, wishes: PlanWishes): Promise<PlannedFolder> {
  const failures: PdError[] = [];
  const built = await buildWorkflow(build, { ...wishes, failures });
  const known = await build.store.listAccounts();
  const accounts = accountsIn(built).map(({ id, app, steps }): PlannedId => {
    const ofApp = known.filter((account) => account.app === app);
    const own = known.find((account) => account.id === id) ?? (ofApp.length === 1 && app !== MAIL_ACCOUNT.app ? ofApp[0] : undefined);
    return { id, kind: "account", app, usedBy: steps, ...(own === undefined ? {} : { here: own.name }) };
  });
  const dataStores = storesIn(built).map(({ id, steps }): PlannedId => ({
    id,
    kind: "data store",
    usedBy: steps,
    ...(stores.includes(id) ? { here: id } : {}),
  }));
  const components = [...everyStep(built.workflow.steps)].flatMap((step): PlannedComponent[] => {
    const component = step.kind === "code" && step.code.kind === "registry" ? built.steps.get(step.namespace) : undefined;
    if (component === undefined || step.kind !== "code" || step.code.kind !== "registry") return [];
    return [{ step: step.namespace, key: step.code.key, version: component.definition.version, origin: component.origin }];
  });
  const texts = Object.entries(wishes.files).flatMap(([path, text]) => (path === WORKFLOW_FILE || /\.(?:[mc]?[jt]sx?|py)$/.test(path) ? [text] : []));
  return {
    name: built.workflow.name,
    isInactive: built.workflow.isInactive,
    failures,
    warnings: [...built.warnings, ...memoryNotes(built.workflow, wishes.grant?.memoryMb ?? build.settings.memoryMb)],
    ids: [...accounts, ...dataStores, ...built.workflow.triggers.flatMap((trigger) => triggerId(trigger, emitter))],
    components,
    variables: variablesRead(texts.join("\n")),
  };
}

function triggerId(trigger: WorkflowTrigger, emitter: PlanPorts["emitter"]): PlannedId[] {
  const usedBy = ["trigger"];
  if (trigger.kind === "events") {
    const here = emitter(trigger.emitter);
    return [{ id: trigger.emitter, kind: "source", usedBy, ...(here === undefined ? {} : { here }) }];
  }
  if (trigger.id === undefined) return [];
  if (trigger.kind === "http") return [{ id: trigger.id, kind: "endpoint", usedBy }];
  return trigger.schedule === undefined ? [{ id: trigger.id, kind: "schedule", usedBy }] : [];
}
