import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type DeployedId, type RunId, type WorkflowId, isRunId } from "../../domain/ids.ts";
import type { Invocation } from "../../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../domain/text/json.ts";
import { type Named, theNamed } from "../../domain/source/named.ts";
import type { SourceVersion } from "../../domain/source/source-version.ts";
import { type EventTrigger, type HttpTrigger, withTimezones } from "../../domain/run/trigger.ts";
import { KeyedTurns } from "../../domain/source/turns.ts";
import { type RunState, type StepRecord, type WorkflowRun, hasEnded } from "../../domain/workflow/run.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import type { RunPage } from "../../ports/stores/workflow-store.ts";
import type { Hosting } from "../sources/hosted-sources.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import { manualEvent } from "../runs/history/manual-event.ts";
import { type ChangeRequest, type WorkflowRequest, changeWorkflow, deployWorkflow } from "./deploying/deploy-workflow.ts";
import type { BuildWishes } from "./deploying/build-workflow.ts";
import { alreadyDebugged } from "../sources/debug.ts";
import { settle } from "./deploying/listening.ts";
import { LiveWorkflow, type WorkflowPorts } from "./running/live-workflow.ts";
import { bindingOf } from "../../domain/workflow/binding.ts";
import { type WorkflowPlan, dataStoresIn } from "./plan.ts";
import type { RehearsalPorts } from "./running/rehearse-run.ts";
import { Repeats } from "./running/repeats.ts";
import { type RequestPorts, WorkflowRequests } from "./running/requests.ts";
import { plainEvent } from "./running/trigger-unit.ts";
import type { WorkflowChangePorts } from "./surroundings.ts";
import { type UnreadableWorkflow, UnreadableWorkflows } from "./unreadable-workflows.ts";
import { Waits } from "./running/waits.ts";
import type { PlannedFolder } from "./deploying/plan-workflow.ts";

export interface WorkflowsPorts extends Omit<WorkflowPorts, "onWait">, WorkflowChangePorts {
  readonly store: WorkflowPorts["store"] & WorkflowChangePorts["store"] & RehearsalPorts["store"] & RequestPorts["store"];
  readonly settings: WorkflowPorts["settings"] & WorkflowChangePorts["settings"] & RequestPorts["settings"];
}

export class Workflows {
  readonly #ports: WorkflowsPorts & WorkflowPorts;
  readonly #hosting: Hosting;
  readonly #byId = new Map<string, LiveWorkflow>();
  readonly #unreadable = new UnreadableWorkflows();
  readonly #waits: Waits;
  readonly requests: WorkflowRequests;
  readonly repeats: Repeats;
  readonly #turns = new KeyedTurns<WorkflowId>();

  constructor(ports: WorkflowsPorts, hosting: Hosting) {
    this.#ports = { ...ports, onWait: () => this.#waits.wake() };
    this.#hosting = hosting;
    this.requests = new WorkflowRequests(this.#ports, (id) => {
      this.#unreadable.refuse(id);
      return this.#byId.get(id);
    });
    this.repeats = new Repeats(this.#ports, {
      workflowOf: (run) => this.find(run.workflowId, "rerun a run of"),
      inTurn: (live, change) => this.#inTurn(live, change),
    });
    this.#waits = new Waits(ports, ({ workflowId, runId: id }, record) => void this.#byId.get(workflowId)?.goOn(id, record));
  }

  /** Nothing runs before `open`. */
  async load(): Promise<void> {
    for (const stored of await this.#ports.store.listWorkflows()) {
      const source = this.#unreadable.read(stored);
      if (source !== undefined) this.#add(new LiveWorkflow(this.#ports, { source, isShown: true }));
    }
    for (const { id: workflow, problem } of this.unreadable) this.#ports.log.error("a workflow cannot be read and does not run", { workflow, problem });
  }

  /** Continues what an earlier server left. */
  async open(): Promise<void> {
    const { store } = this.#ports;
    for (const run of await store.listRunsAtWork([...this.#byId.values()].map(({ id }) => id))) void this.#byId.get(run.workflowId)?.goOn(run.id);
    for (const live of this.#byId.values())
      await this.#inTurn(live, () => settle(this.#ports, this.#around, live)).catch((error: unknown) =>
        this.#ports.log.error("an interrupted change of a workflow cannot be completed", { workflow: live.id, reason: messageOf(error) }),
      );
    this.#waits.start();
    await this.#dropFilesOfEnded();
  }

  /** A killed server or a deleted workflow may have left files. */
  async #dropFilesOfEnded(): Promise<void> {
    const { store, runFiles, log } = this.#ports;
    for (const id of await runFiles.runs()) {
      const run = await store.getRun(id);
      if (run !== undefined && !hasEnded(run)) continue;
      await runFiles.drop(id).catch((error: unknown) => log.warn("files of a run that has ended cannot be removed", { run: id, reason: messageOf(error) }));
    }
  }

  /** Newest first. */
  list(): readonly LiveWorkflow[] {
    const shown = [...this.#byId.values()].filter(({ isShown }) => isShown);
    return shown.toSorted((a, b) => b.source.createdAt - a.source.createdAt || (a.id < b.id ? -1 : 1));
  }

  get unreadable(): readonly UnreadableWorkflow[] {
    return this.#unreadable.all;
  }

  async deleteUnreadable(idOrSlug: string): Promise<WorkflowId | undefined> {
    const found = this.#unreadable.find(idOrSlug);
    if (found === undefined) return undefined;
    const triggers = this.triggersOf(found);
    await this.#ports.store.deleteSource(found.id);
    this.#unreadable.remove(found);
    for (const trigger of triggers) this.#forget(trigger);
    return found.id;
  }

  /** Throws PD_WORKFLOW_NOT_FOUND, PD_AMBIGUOUS, and PD_DATABASE_DAMAGED for an unreadable workflow. */
  find(word: string, attempted = "find workflow", isExact = false): LiveWorkflow {
    const live = this.bySlug(word);
    if (live !== undefined) return live;
    this.#unreadable.refuse(word);
    return theNamed(this.named(), word, { attempted, what: "workflow", isExact }).live;
  }

  named(): readonly (Named & { readonly live: LiveWorkflow })[] {
    return this.list().map((live) => ({ id: live.id, slug: live.source.slug, name: live.source.name, live }));
  }

  bySlug(idOrSlug: string): LiveWorkflow | undefined {
    return this.#byId.get(idOrSlug) ?? [...this.#byId.values()].find(({ source }) => source.slug === idOrSlug);
  }

  triggersOf({ id }: Pick<LiveWorkflow, "id">): readonly LiveSource[] {
    return [...this.#hosting.sources.all()].filter(({ outline }) => outline.workflowId === id);
  }

  /** Dry run of a deployment. Throws PD_BUILD_FAILED for an unreadable file. */
  async plan(request: Pick<WorkflowRequest, "files" | "env" | "progress"> & Pick<BuildWishes, "grant">): Promise<PlannedFolder> {
    const { store, clock } = this.#ports;
    const { planFolder } = await import("./deploying/plan-workflow.ts");
    const stores = (await store.listDataStores(clock.now())).map(({ name }) => name);
    return planFolder({ build: this.#ports, stores, emitter: (idOrSlug) => this.#around.emitter(idOrSlug) }, request);
  }

  async deploy(request: WorkflowRequest): Promise<LiveWorkflow> {
    return deployWorkflow(this.#ports, this.#around, request);
  }

  update(live: LiveWorkflow, request: ChangeRequest): Promise<LiveWorkflow> {
    return this.#inTurn(live, () => changeWorkflow(this.#ports, this.#around, { live, request }));
  }

  /** Applies to steps of the current version from their next call on. Throws PD_CONFLICT. */
  debug(live: LiveWorkflow, link: DebugLink | undefined): Promise<void> {
    return this.#inTurn(live, async () => {
      if (link !== undefined && live.debug !== undefined) throw alreadyDebugged(live.source.slug);
      live.debug = link;
    });
  }

  delete(live: LiveWorkflow): Promise<void> {
    return this.#inTurn(live, async () => {
      const triggers = this.triggersOf(live);
      await this.#ports.store.deleteSource(live.id);
      this.#byId.delete(live.id);
      void this.#dropFilesOfEnded().catch((error: unknown) =>
        this.#ports.log.warn("files of deleted runs remain until the next start", { reason: messageOf(error) }),
      );
      live.markGone();
      this.#ports.answers.giveUp(live.id);
      for (const trigger of triggers) this.#forget(trigger);
      this.#ports.feed.end(live.id);
    });
  }

  versions({ id }: LiveWorkflow): Promise<readonly SourceVersion[]> {
    return this.#ports.store.listVersions(id);
  }

  /** Path → text. Throws PD_NOT_FOUND. */
  async files(live: LiveWorkflow, number: number = live.source.version): Promise<Readonly<Record<string, string>>> {
    const { code } = await this.planOf(live, number);
    return { ...code.code.files, [code.code.path]: code.code.text };
  }

  /** Throws PD_NOT_FOUND. */
  planOf(live: LiveWorkflow, number: number): Promise<WorkflowPlan> {
    return live.plan(number).catch((error: unknown) => {
      if (error instanceof PdError && error.code === "PD_COMPONENT_NOT_FOUND")
        throw new PdError("PD_NOT_FOUND", `Cannot find version ${number} of ${live.source.slug}: it is not stored`, { fix: `pd versions ${live.source.slug}` });
      throw error;
    });
  }

  /** Deploys them as a new version. `number` defaults to the previous version. */
  async rollback(live: LiveWorkflow, number: number | undefined, by: Pick<ChangeRequest, "isForeign"> = {}): Promise<LiveWorkflow> {
    const { version, componentId, slug } = live.source;
    const wanted = number ?? (await this.versions(live)).find((known) => known.number < version && known.componentId !== componentId)?.number;
    if (wanted === undefined)
      throw new PdError("PD_NOT_FOUND", `Cannot roll ${slug} back: no earlier version with other files is stored`, { fix: `pd versions ${slug}` });
    if (wanted === version) throw new PdError("PD_BAD_INPUT", `Cannot roll ${slug} back to version ${wanted}: it is already running`);
    return this.update(live, { ...by, files: await this.files(live, wanted), like: await live.plan(wanted) });
  }

  receive(id: DeployedId, trigger: EventTrigger): Promise<void> {
    const live = this.#byId.get(id);
    if (live !== undefined) return live.receive(trigger);
    // Its messages stay due.
    if (this.#unreadable.has(id)) throw new PdError("PD_SOURCE_INACTIVE", `Cannot run ${id}: it cannot be read`);
    throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${id}: no workflow has this id`);
  }

  concurrencyOf(id: string): number | undefined {
    return this.#byId.get(id)?.concurrency;
  }

  get ids(): readonly WorkflowId[] {
    return [...this.#byId.values()].map(({ id }) => id);
  }

  async accountsInUse(): Promise<readonly string[]> {
    const active = [...this.#byId.values()].filter(({ source }) => source.active);
    return (await Promise.all(active.map((live) => live.accounts().catch(noneOfUnreadable)))).flat();
  }

  /** Slugs of workflows. */
  async withAccount(id: string): Promise<readonly string[]> {
    // A workflow with unreadable files may use any account.
    const mayUse = (live: LiveWorkflow): Promise<boolean> =>
      live.accounts().then(
        (accounts) => accounts.includes(id),
        () => true,
      );
    const users = await Promise.all([...this.#byId.values()].map(async (live) => ((await mayUse(live)) ? [live.source.slug] : [])));
    return [...users.flat(), ...this.unreadable.map(({ slug }) => slug)];
  }

  /** Slugs of workflows. */
  async withDataStore(name: string): Promise<readonly string[]> {
    const mayUse = async (live: LiveWorkflow): Promise<boolean> =>
      live.plan().then(
        (plan) => dataStoresIn(plan, bindingOf(live.source.configured)).includes(name),
        () => true,
      );
    const users = await Promise.all([...this.#byId.values()].map(async (live) => ((await mayUse(live)) ? [live.source.slug] : [])));
    return [...users.flat(), ...this.unreadable.map(({ slug }) => slug)];
  }

  /** `event` defaults to that of the schedule or of an empty request. */
  async run(live: LiveWorkflow, event: JsonValue | undefined): Promise<WorkflowRun> {
    const [trigger] = this.triggersOf(live);
    const usual = trigger === undefined ? {} : withTimezones(await manualEvent(this.#ports, trigger));
    return live.start({ kind: "manual", event: event ?? usual });
  }

  runs({ id }: LiveWorkflow, page: RunPage): Promise<readonly WorkflowRun[]> {
    return this.#ports.store.listRuns(id, page);
  }

  /** The newest rerun of each. */
  reruns(of: readonly RunId[]): ReturnType<WorkflowsPorts["store"]["listReruns"]> {
    return this.#ports.store.listReruns(of);
  }

  counts({ id }: LiveWorkflow): Promise<Readonly<Record<RunState, number>>> {
    return this.#ports.store.countRuns(id);
  }

  /** Throws PD_RUN_NOT_FOUND. */
  async findRun(id: string, attempted = "find run"): Promise<WorkflowRun> {
    const found = isRunId(id) ? await this.#ports.store.getRun(id) : undefined;
    if (found === undefined) throw new PdError("PD_RUN_NOT_FOUND", `Cannot ${attempted} "${id}": no run has this id`);
    return found;
  }

  async runOf({ trigger }: Invocation): Promise<WorkflowRun | undefined> {
    return trigger.kind === "step" ? this.#ports.store.getRun(trigger.runId) : undefined;
  }

  stepsOf(id: RunId): Promise<readonly StepRecord[]> {
    return this.#ports.store.stepRecords(id);
  }

  /** Throws PD_CONFLICT when the run has already ended. */
  async cancel(run: WorkflowRun, reason: string): Promise<void> {
    const isCancelled = await this.find(run.workflowId, "cancel a run of").cancel(run.id, reason);
    if (!isCancelled) throw new PdError("PD_CONFLICT", `Cannot cancel ${run.id}: it has already ended`, { fix: `pd runs ${run.workflowId}` });
  }

  /** A waiting or running step has it. */
  async awaits(token: string): Promise<boolean> {
    const { store, tokens } = this.#ports;
    return tokens.runOf(token) !== undefined || (await store.findWaiting(token)) !== undefined;
  }

  /** Returns false when no step waits with it. */
  async resume(token: string, trigger: HttpTrigger): Promise<boolean> {
    const { store, tokens } = this.#ports;
    const found = (await store.findWaiting(token)) ?? ((await tokens.untilSettled(token)) ? await store.findWaiting(token) : undefined);
    const event = await plainEvent(trigger);
    const record = found === undefined ? undefined : await store.endWait(found, isJsonObject(event) ? event : {});
    if (found === undefined || record === undefined) return false;
    void this.#byId.get(found.workflowId)?.goOn(found.runId, record);
    return true;
  }

  /** Throws PD_CONFLICT when the run does not wait. */
  async resumeRun(run: WorkflowRun, event: JsonObject = {}): Promise<void> {
    const live = this.find(run.workflowId, "resume a run of");
    const waiting = (await this.stepsOf(run.id)).filter(({ state }) => state === "waiting");
    const ended = await Promise.all(waiting.map(({ path }) => this.#ports.store.endWait({ runId: run.id, path }, event)));
    const records = ended.flatMap((record) => record ?? []);
    if (records.length === 0) throw new PdError("PD_CONFLICT", `Cannot resume ${run.id}: it is not waiting`, { fix: `pd runs ${run.id} shows its state` });
    for (const record of records) void live.goOn(run.id, record);
  }

  /** Returns false when no step has it or the run has ended. */
  async cancelBy(token: string): Promise<boolean> {
    const { store, tokens } = this.#ports;
    const running = tokens.runOf(token);
    const waiting = running === undefined ? await store.findWaiting(token) : undefined;
    const [id, workflowId] = running === undefined ? [waiting?.runId, waiting?.workflowId] : [running.id, running.workflowId];
    if (id === undefined || workflowId === undefined) return false;
    return (await this.#byId.get(workflowId)?.cancel(id, "its cancel address was called")) ?? false;
  }

  /** Steps in flight finish. Abort the ports' signal first. */
  async stop(): Promise<void> {
    await this.#waits[Symbol.asyncDispose]();
    await Promise.all([...this.#byId.values()].map((live) => live.untilIdle()));
  }

  get #around() {
    return {
      hosting: this.#hosting,
      add: (live: LiveWorkflow) => this.#add(live),
      remove: (live: LiveWorkflow) => void this.#byId.delete(live.id),
      isKnown: (id: string) => this.#byId.has(id) || [...this.#hosting.sources.all()].some(({ outline }) => outline.id === id),
      emitter: (idOrSlug: string) => this.#emitter(idOrSlug),
      make: (source: DeployedComponent) => new LiveWorkflow(this.#ports, { source, isShown: false }),
      forget: (trigger: LiveSource) => this.#forget(trigger),
      triggersOf: (live: LiveWorkflow) => this.triggersOf(live),
    };
  }

  #add(live: LiveWorkflow): void {
    this.#byId.set(live.id, live);
  }

  #emitter(idOrSlug: string): DeployedId | undefined {
    return (
      this.bySlug(idOrSlug)?.id ?? [...this.#hosting.sources.all()].find(({ outline }) => outline.id === idOrSlug || outline.slug === idOrSlug)?.outline.id
    );
  }

  #forget(trigger: LiveSource): void {
    const { sources, timers } = this.#hosting;
    sources.remove(trigger);
    timers.replace(trigger.outline.id, []);
    trigger.kill("its workflow no longer has it");
    this.#ports.feed.end(trigger.outline.id);
  }

  #inTurn<Value>(live: LiveWorkflow, change: () => Promise<Value>): Promise<Value> {
    return this.#turns.take(live.id, async () => {
      if (live.isGone) throw new PdError("PD_WORKFLOW_NOT_FOUND", `Cannot change ${live.source.slug}: it was deleted`);
      return change();
    });
  }
}

/** An unreadable workflow must not block the renewal of other accounts. */
function noneOfUnreadable(error: unknown): readonly string[] {
  if (error instanceof PdError && error.code === "PD_DATABASE_DAMAGED") return [];
  throw error;
}
