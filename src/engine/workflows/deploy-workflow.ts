import type { DeployedComponent } from "../../domain/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import { type WorkflowId, isTriggerId, isWorkflowId } from "../../domain/ids.ts";
import { type JsonObject, isSameJson } from "../../domain/json.ts";
import { type WorkflowBinding, bindingOf, bindingValue } from "../../domain/workflow/binding.ts";
import type { SubscriptionStore } from "../../ports/subscription-store.ts";
import type { LiveSource } from "../runs/live-source.ts";
import type { ChangePorts } from "../sources/change-ports.ts";
import { deploy, subscribeAutomatically } from "../sources/deploy.ts";
import type { Hosting } from "../sources/hosted-sources.ts";
import { claimSlug, withSlug } from "../sources/slugs.ts";
import { update } from "../sources/update.ts";
import { type BoundAccounts, bindAccounts } from "./bind-accounts.ts";
import { type Bindings, type BoundTrigger, bindTriggers, emittersOf } from "./bind-triggers.ts";
import { type BuiltWorkflow, type WorkflowBuildPorts, type WorkflowFiles, buildWorkflow, idInFiles } from "./build-workflow.ts";
import type { LiveWorkflow } from "./live-workflow.ts";
import type { WorkflowPlan } from "./plan.ts";
import { TRIGGER_COMPONENTS } from "./trigger-unit.ts";

export type WorkflowChangePorts = ChangePorts & WorkflowBuildPorts;

/** What stands for ids that the file brings from elsewhere. */
interface Stand {
  /** Id in the file → id or name of an account here. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Id in the file → id or slug of a source or workflow here. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Id in the file → schedule, as a timer is given. */
  readonly schedules?: Readonly<Record<string, JsonObject>>;
}

export interface WorkflowRequest extends Stand {
  readonly files: WorkflowFiles;
  /** Absent: the name in the file. */
  readonly name?: string | undefined;
  /** Has to be free; absent: made of the name. */
  readonly slug?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly active?: boolean | undefined;
}

export interface ChangeRequest extends Stand {
  readonly files?: WorkflowFiles;
  /** Steps of this version are taken as they are. */
  readonly like?: WorkflowPlan;
  readonly name?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly active?: boolean | undefined;
  /** Refused when another version runs by then. */
  readonly ifVersion?: number | undefined;
}

/** What is around a workflow that is deployed or changed. */
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

const NOTHING: WorkflowBinding = { triggers: [], accounts: {}, sources: {}, schedules: {}, warnings: [] };

/** Folder → steps, each loaded once → record → triggers → shown. When anything fails nothing is left. */
export async function deployWorkflow(ports: WorkflowChangePorts, around: WorkflowSurroundings, request: WorkflowRequest): Promise<LiveWorkflow> {
  const { clock, store } = ports;
  const { files, env, active = true, slug: wanted } = request;
  const built = await buildWorkflow(ports, { files, env });
  const bound = await bind(ports, around, { built, binding: NOTHING, stand: request });
  const id = idOf(files, around, () => clock.randomText(7));
  const name = request.name ?? built.workflow.name;
  const now = clock.now();
  const draft = { version: 1, endpointKey: clock.randomText(20).toLowerCase(), setAside: {}, dynamicProps: [], createdAt: now, updatedAt: now };
  let live: LiveWorkflow | undefined;
  try {
    await withSlug({ sources: around.hosting.sources, store }, { name, wanted }, async (slug) => {
      const source: DeployedComponent = { ...draft, id, componentId: built.code.id, name, slug, configured: bindingValue(bound.binding), env, active };
      await store.beginDeploy(source, built.code, { steps: built.stepComponents });
      live = around.make(source);
      live.switchTo(source, built);
      around.add(live);
      return source;
    });
    if (live === undefined) throw new Error(`${name} was deployed without a record`);
    await subscribeAutomatically(ports, id);
    for (const trigger of bound.triggers) await listen(ports, around, { live, trigger });
    await store.finishDeploy(id, []);
    live.isShown = true;
    return live;
  } catch (error) {
    if (live !== undefined) await takeBack(ports, around, live);
    throw error;
  }
}

async function takeBack({ store }: WorkflowChangePorts, around: WorkflowSurroundings, live: LiveWorkflow): Promise<void> {
  const triggers = around.triggersOf(live);
  around.remove(live);
  live.isGone = true;
  await store.deleteSource(live.id);
  for (const trigger of triggers) around.forget(trigger);
}

/** The one that the export notes, if nothing here has it. */
function idOf(files: WorkflowFiles, around: WorkflowSurroundings, randomText: () => string): WorkflowId {
  const noted = idInFiles(files);
  return isWorkflowId(noted) && !around.isKnown(noted) ? noted : `p_${randomText()}`;
}

/**
 * Other files, values or state of the same workflow. Runs that go on stay on the version that they began with. What is
 * new listens before the swap and what is gone stops after it, so that no event falls between.
 */
export async function changeWorkflow(
  ports: WorkflowChangePorts,
  around: WorkflowSurroundings,
  { live, request }: { live: LiveWorkflow; request: ChangeRequest },
): Promise<LiveWorkflow> {
  const { store, clock } = ports;
  const { source } = live;
  if (request.ifVersion !== undefined && request.ifVersion !== source.version)
    throw new PdError("PD_CONFLICT", `Cannot update ${source.slug}: version ${source.version} runs, and not ${request.ifVersion} any more`);
  const env = request.env === undefined ? source.env : { ...source.env, ...request.env };
  const before = await live.plan();
  const built = request.files === undefined ? undefined : await buildWorkflow(ports, { files: request.files, env, before: request.like ?? before });
  const isSame = built === undefined || (built.code.hash === before.code.hash && isSameSteps(built, before));
  const plan = isSame ? { ...before, stepComponents: [], warnings: before.code.definition.warnings } : likeBefore(built, request.like);
  const binding = bindingOf(source.configured);
  const bound = await bind(ports, around, { built: plan, binding, stand: request });
  const name = request.name ?? (built === undefined || before.workflow.name === built.workflow.name ? source.name : built.workflow.name);
  const slug = name === source.name ? source.slug : await claimSlug(around.hosting.sources, store, { name, own: source.slug });
  const active = request.active ?? source.active;
  const next: DeployedComponent = {
    ...source,
    componentId: plan.code.id,
    version: source.version + (isSame ? 0 : 1),
    name,
    slug,
    configured: bindingValue(bound.binding),
    env,
    active,
    updatedAt: clock.now(),
  };
  try {
    const old = emittersOf(binding.triggers.map((id, index) => boundBefore(before, id, index)));
    for (const trigger of bound.triggers) await listen(ports, around, { live, trigger, active });
    await store.swap(next, plan.code, { timers: [], steps: plan.stepComponents });
    live.switchTo(next, plan);
    await stopListening(ports, around, { live, old, triggers: bound.triggers });
  } finally {
    around.hosting.sources.releaseSlug(slug);
  }
  ports.feed.observe(live.id, { kind: "updated", at: clock.now(), version: String(next.version), hash: plan.code.hash });
  return live;
}

/** What a trigger of the version before was. */
function boundBefore({ workflow }: WorkflowPlan, id: string | undefined, index: number): BoundTrigger | undefined {
  const trigger = workflow.triggers[index];
  if (id === undefined || trigger === undefined) return undefined;
  if (trigger.kind === "events") return { kind: "events", id, channel: trigger.channel };
  return isTriggerId(id) ? { kind: "http", id } : undefined;
}

function isSameSteps(left: WorkflowPlan, right: WorkflowPlan): boolean {
  return left.steps.size === right.steps.size && [...left.steps].every(([namespace, { id }]) => right.steps.get(namespace)?.id === id);
}

/** A version that is gone back to is kept once. */
function likeBefore(built: BuiltWorkflow, like: WorkflowPlan | undefined): BuiltWorkflow {
  return like !== undefined && like.code.hash === built.code.hash && isSameSteps(built, like) ? { ...built, code: like.code } : built;
}

interface Binding extends Pick<Bindings, "triggers">, Pick<BoundAccounts, "accounts"> {
  readonly binding: WorkflowBinding;
}

async function bind(
  { store, clock }: WorkflowChangePorts,
  around: WorkflowSurroundings,
  { built, binding, stand }: { built: WorkflowPlan; binding: WorkflowBinding; stand: Stand },
): Promise<Binding> {
  const given = { ...binding.accounts, ...stand.accounts };
  const { accounts, warnings } = bindAccounts(built, { given, known: await store.listAccounts() });
  const sources = { ...binding.sources, ...stand.sources };
  const schedules = { ...binding.schedules, ...stand.schedules };
  const bound = bindTriggers(built.workflow.triggers, {
    binding: { ...binding, sources, schedules },
    isFree: (id) => !around.isKnown(id),
    emitter: (idOrSlug) => around.emitter(idOrSlug),
    newId: () => clock.randomText(7),
  });
  return {
    triggers: bound.triggers,
    accounts,
    binding: {
      warnings: [...warnings, ...bound.warnings],
      triggers: bound.triggers.map((trigger) => trigger?.id),
      accounts: { ...binding.accounts, ...accounts },
      sources,
      schedules,
    },
  };
}

/** The workflow hears what its trigger emits from now on. It listens before there is anything to be heard. */
async function listen(
  ports: WorkflowChangePorts,
  around: WorkflowSurroundings,
  { live, trigger, active = live.source.active }: { live: LiveWorkflow; trigger: BoundTrigger | undefined; active?: boolean },
): Promise<void> {
  if (trigger === undefined) return;
  const { store, clock } = ports;
  const { sources, timers } = around.hosting;
  const [{ emitterId, channel } = { emitterId: "", channel: "" }] = emittersOf([trigger]);
  await store.saveSubscription({ id: `sub_${clock.randomText(7)}`, emitterId, listenerId: live.id, channel, createdAt: clock.now() });
  if (trigger.kind === "events") return;
  const props = trigger.kind === "schedule" ? { timer: trigger.timer } : {};
  const known = sources.byId(trigger.id);
  const name = `${live.source.name}: ${trigger.kind === "http" ? "endpoint" : "schedule"}`;
  if (known === undefined) {
    const code = { kind: "saved", component: TRIGGER_COMPONENTS[trigger.kind] } as const;
    await deploy(ports, around.hosting, { code, trigger: { id: trigger.id, workflowId: live.id }, name, slug: trigger.id, props, env: {}, active });
    return;
  }
  const isSame = known.source.active === active && (trigger.kind === "http" || isSameJson(known.source.configured["timer"], trigger.timer));
  if (!isSame) await update(ports, { sources, timers }, { live: known, request: { props, active, keepsSlug: true } });
}

/** What the version before heard and this one does not. */
async function stopListening(
  { store }: { readonly store: SubscriptionStore & WorkflowChangePorts["store"] },
  around: WorkflowSurroundings,
  { live, old, triggers }: { live: LiveWorkflow; old: ReturnType<typeof emittersOf>; triggers: Bindings["triggers"] },
): Promise<void> {
  const wanted = emittersOf(triggers);
  for (const { emitterId, channel } of old) {
    if (wanted.some((one) => one.emitterId === emitterId && one.channel === channel)) continue;
    await store.deleteSubscription({ emitterId, listenerId: live.id, channel });
  }
  const kept = new Set(wanted.map(({ emitterId }) => emitterId));
  for (const trigger of around.triggersOf(live)) {
    if (kept.has(trigger.source.id)) continue;
    await store.deleteSource(trigger.source.id);
    around.forget(trigger);
  }
}
