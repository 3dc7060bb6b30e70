import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { changedSettings } from "../../../domain/source-settings/read-settings.ts";
import { PdError } from "../../../domain/errors.ts";
import { type WorkflowId, isWorkflowId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { type Heard, type WorkflowBinding, type WorkflowLimits, bindingOf, bindingValue } from "../../../domain/workflow/binding.ts";
import { subscribeAutomatically } from "../../sources/deploy.ts";
import { refuseForeignCode } from "../../sources/debug.ts";
import { slugAfter, withSlug } from "../../sources/slugs.ts";
import { type BoundAccounts, bindAccounts } from "./bind-accounts.ts";
import { bindStores } from "./bind-stores.ts";
import { type Bindings, bindTriggers } from "./bind-triggers.ts";
import { type BuiltWorkflow, type WorkflowFiles, buildWorkflow, idInFiles } from "./build-workflow.ts";
import { listen, whileListeningTo } from "./listening.ts";
import type { LiveWorkflow } from "../running/live-workflow.ts";
import type { Tracked } from "../../../ports/progress.ts";
import type { WorkflowPlan } from "../plan.ts";
import type { WorkflowChangePorts, WorkflowSurroundings } from "../surroundings.ts";

/** Replacements for ids in the file that come from elsewhere. */
interface Stand {
  /** Id in the file → id or name of an account here. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Id in the file → id or slug of a source or workflow here. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Id in the file → name of a data store here. */
  readonly stores?: Readonly<Record<string, string>>;
  /** Id in the file → timer value. */
  readonly schedules?: Readonly<Record<string, JsonObject>>;
}

export interface WorkflowRequest extends Stand, Tracked {
  readonly files: WorkflowFiles;
  /** Defaults to the name in the file. */
  readonly name?: string | undefined;
  /** Must be free. Made from the name when omitted. */
  readonly slug?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly active?: boolean | undefined;
  readonly allowsPrograms?: boolean | undefined;
  readonly limits?: WorkflowLimits;
}

export interface ChangeRequest extends Stand, Tracked {
  /** Set when the caller does not own the server. */
  readonly isForeign?: boolean;
  readonly files?: WorkflowFiles;
  /** Its steps are used unchanged. */
  readonly like?: WorkflowPlan;
  readonly name?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly active?: boolean | undefined;
  readonly allowsPrograms?: boolean | undefined;
  /** `null` resets a limit to that of the server or the file. */
  readonly limits?: { readonly [Name in keyof WorkflowLimits]: WorkflowLimits[Name] | null };
  /** Throws PD_CONFLICT unless this version runs. */
  readonly ifVersion?: number | undefined;
  readonly keepsSlug?: boolean | undefined;
  /** Must not be in use. Follows the name by default. */
  readonly slug?: string | undefined;
}

const NOTHING: WorkflowBinding = { triggers: [], accounts: {}, sources: {}, stores: {}, schedules: {}, limits: {}, warnings: [], touched: [] };

/** Steps are loaded once. A failure leaves nothing behind. */
export async function deployWorkflow(ports: WorkflowChangePorts, around: WorkflowSurroundings, request: WorkflowRequest): Promise<LiveWorkflow> {
  const { clock, store } = ports;
  const { files, env, slug: wanted, allowsPrograms, limits = {} } = request;
  const built = await buildWorkflow(ports, { files, env, grant: { allowsPrograms, ...limits }, progress: request.progress });
  const active = request.active ?? !built.workflow.isInactive;
  const bound = await bind(ports, around, { built, binding: { ...NOTHING, limits }, stand: request });
  const id = idOf(files, around, () => clock.randomText(7));
  const name = request.name ?? built.workflow.name;
  const now = clock.now();
  const draft = {
    version: 1,
    endpointKey: clock.randomText(20).toLowerCase(),
    setAside: {},
    dynamicProps: [],
    createdAt: now,
    updatedAt: now,
    settings: changedSettings({}, { allow_run: allowsPrograms }),
  };
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
  live.markGone();
  await store.deleteSource(live.id);
  for (const trigger of triggers) around.forget(trigger);
}

/** The id of the export, unless it is in use here. */
function idOf(files: WorkflowFiles, around: WorkflowSurroundings, randomText: () => string): WorkflowId {
  const noted = idInFiles(files);
  return isWorkflowId(noted) && !around.isKnown(noted) ? noted : `p_${randomText()}`;
}

/** Runs in progress stay on their version. New triggers are subscribed before the swap and old ones removed after it, so that no event is lost. */
export async function changeWorkflow(
  ports: WorkflowChangePorts,
  around: WorkflowSurroundings,
  { live, request }: { live: LiveWorkflow; request: ChangeRequest },
): Promise<LiveWorkflow> {
  const { store, clock } = ports;
  const { source } = live;
  refuseForeignCode(live, request.isForeign);
  refuseOtherVersion(source, request.ifVersion);
  const env = request.env === undefined ? source.env : { ...source.env, ...request.env };
  const binding = bindingOf(source.configured);
  const limits = changedLimits(binding.limits, request.limits);
  const before = await live.plan();
  const built =
    request.files === undefined
      ? undefined
      : await buildWorkflow(ports, {
          files: request.files,
          env,
          grant: { allowsPrograms: request.allowsPrograms ?? source.settings.allow_run, ...limits },
          before: request.like ?? before,
          isDeployed: request.like !== undefined,
          progress: request.progress,
        });
  const isSame = built === undefined || (built.code.hash === before.code.hash && isSameSteps(built, before));
  const plan = isSame ? { ...before, stepComponents: [], warnings: before.code.definition.warnings } : likeBefore(built, request.like);
  const bound = await bind(ports, around, { built: plan, binding: { ...binding, limits }, stand: request });
  const name = request.name ?? (built === undefined || before.workflow.name === built.workflow.name ? source.name : built.workflow.name);
  const slug = await slugAfter(around.hosting.sources, store, { source, name, wanted: request.slug, keepsSlug: request.keepsSlug });
  const active = request.active ?? source.active;
  const next: DeployedComponent = {
    ...source,
    settings: changedSettings(source.settings, { allow_run: request.allowsPrograms }),
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
    const swap = async (touched: readonly Heard[]): Promise<void> => {
      const source = { ...next, configured: bindingValue({ ...bound.binding, touched }) };
      await store.swap(source, plan.code, { timers: [], steps: plan.stepComponents });
      live.switchTo(source, plan);
    };
    await whileListeningTo(ports, around, { live, triggers: bound.triggers, active, swap });
  } finally {
    around.hosting.sources.releaseSlug(slug);
  }
  ports.feed.observe(live.id, { kind: "updated", at: clock.now(), version: String(next.version), hash: plan.code.hash });
  // Held while it was inactive.
  if (request.active === true) ports.onDeliveries([live.id]);
  return live;
}

function refuseOtherVersion({ slug, version }: DeployedComponent, expected: number | undefined): void {
  if (expected === undefined || expected === version) return;
  throw new PdError("PD_CONFLICT", `Cannot update ${slug}: expected version ${expected}, but version ${version} is running`, {
    fix: `Check what has changed (pd versions ${slug}), and repeat the change`,
  });
}

function changedLimits(before: WorkflowLimits, changes: ChangeRequest["limits"] = {}): WorkflowLimits {
  const { allowsAddons = before.allowsAddons, memoryMb = before.memoryMb, timeoutSeconds = before.timeoutSeconds } = changes;
  return { allowsAddons: allowsAddons ?? undefined, memoryMb: memoryMb ?? undefined, timeoutSeconds: timeoutSeconds ?? undefined };
}

function isSameSteps(left: WorkflowPlan, right: WorkflowPlan): boolean {
  return left.steps.size === right.steps.size && [...left.steps].every(([namespace, { id }]) => right.steps.get(namespace)?.id === id);
}

/** A rollback does not store its files a second time. */
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
  const stores = bindStores(built, { given: { ...binding.stores, ...stand.stores }, known: (await store.listDataStores(clock.now())).map(({ name }) => name) });
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
      limits: binding.limits,
      touched: [],
      warnings: [...warnings, ...stores.warnings, ...bound.warnings],
      triggers: bound.triggers.map((trigger) => trigger?.id),
      accounts: { ...binding.accounts, ...accounts },
      sources,
      stores: stores.stores,
      schedules,
    },
  };
}
