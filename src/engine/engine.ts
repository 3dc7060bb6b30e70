import type { DeployedComponent } from "../domain/source/deployed-component.ts";
import { PdError } from "../domain/errors.ts";
import type { HttpResponse } from "../domain/run/invocation.ts";
import type { JsonValue } from "../domain/text/json.ts";
import type { AppProbe } from "../domain/account/known-app.ts";
import { isWorkflowId, isDeployedId } from "../domain/ids.ts";
import { theNamed } from "../domain/source/named.ts";
import type { HttpTrigger } from "../domain/run/trigger.ts";
import type { DebugLink } from "../ports/debugger.ts";
import type { PendingRequest } from "../ports/stores/run-store.ts";
import type { Identity } from "../ports/stores/subscription-store.ts";
import { type AccountTest, testAccount } from "./accounts/account-test.ts";
import { Accounts, accountsOf } from "./accounts/accounts.ts";
import { type App, Apps } from "./accounts/apps.ts";
import { RequestAcceptor } from "./requests/accept-request.ts";
import { resolveCode } from "./code/build-component.ts";
import { type SourceActivity, activityOf } from "./runs/history/activity.ts";
import type { CommittedRun } from "./runs/commits/commit-run.ts";
import { Credentials } from "./accounts/credentials.ts";
import { debug } from "./sources/debug.ts";
import { deleteSource } from "./sources/delete.ts";
import { Deliverer } from "./deliveries/deliver.ts";
import { type DeployRequest, deploy } from "./sources/deploy.ts";
import { Replays } from "./runs/history/replays.ts";
import type { EventFeed } from "./runs/commits/event-feed.ts";
import { keepCool, keepPruned, keepRenewed } from "./housekeeping.ts";
import { LiveSource } from "./runs/source/live-source.ts";
import { manualEvent } from "./runs/history/manual-event.ts";
import { OAuthFlows } from "./accounts/oauth-flows.ts";
import { ProcessBudget } from "./runs/source/process-budget.ts";
import type { EnginePorts } from "./ports.ts";
import { askPublished } from "./workbench/published-choices.ts";
import { PostponedEmitter } from "./deliveries/postponed-emitter.ts";
import { activateCutOff, keepSeenVersions, runPending, settleRunningInstants } from "./recover.ts";
import { Registries } from "./code/registries.ts";
import { HostedSources, type Hosting } from "./sources/hosted-sources.ts";
import { type ImportRequest, importSource } from "./sources/import-source.ts";
import { unreadableBecause } from "./runs/source/unreadable.ts";
import { Scheduler } from "./timers/scheduler.ts";
import { type UpdateRequest, update } from "./sources/update.ts";
import { Versions } from "./sources/versions.ts";
import { Webhooks } from "./deliveries/webhooks.ts";
import { Answers } from "./workflows/running/answers.ts";
import { ExpectedTokens } from "./workflows/running/expected-tokens.ts";
import { withTriggerUnits } from "./workflows/running/trigger-unit.ts";
import { Workflows } from "./workflows/workflows.ts";
import { Workbench } from "./workbench/workbench.ts";
import { ApiKeys } from "./accounts/api-keys.ts";
import { Components } from "./workbench/components.ts";
import { Deliveries } from "./deliveries/deliveries.ts";
import { History } from "./runs/history/history.ts";
import { KeptEvents } from "./runs/history/kept-events.ts";
import { SharedStores } from "./sources/shared-stores.ts";
import { type ExportWishes, type ExportedSource, exportSource } from "./sources/transfer.ts";
import type { Timer, UnreadableTimer } from "../ports/stores/timer-store.ts";

/** Receivers that do not answer delay a stop by at most this. */
const DELIVERY_GRACE_MS = 1000;

type GivenPorts = Omit<EnginePorts, "onDeliveries" | "onPostponed" | "credentials" | "processes">;

export class Engine {
  readonly #ports: EnginePorts;
  readonly #sources = new HostedSources();
  readonly #scheduler: Scheduler;
  readonly #acceptor: RequestAcceptor;
  readonly #deliverer: Deliverer;
  readonly #postponed: PostponedEmitter;
  readonly #over = new AbortController();
  readonly #stepBench: Workbench;
  readonly owner: Identity;
  readonly components: Components;
  readonly workbench: Workbench;
  readonly registries: Registries;
  readonly history: History;
  readonly replays: Replays;
  readonly events: KeptEvents;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly accounts: Accounts;
  readonly oauthFlows: OAuthFlows;
  readonly apps: Apps;
  readonly sharedStores: SharedStores;
  readonly apiKeys: ApiKeys;
  readonly versions: Versions;
  readonly workflows: Workflows;
  #chores: Promise<unknown> = Promise.resolve();
  /** Requests that an earlier server acknowledged. Read before this server accepts requests, since those are run by their acceptor. */
  #leftRequests: readonly PendingRequest[] = [];

  /** Sources can be called afterwards; timers, deliveries and recovery start with `open`. */
  static async start(given: GivenPorts): Promise<Engine> {
    const { store } = given;
    const engine = new Engine(given, await store.identity());
    // First, because this also deletes the triggers of unfinished workflows.
    await store.dropUnfinished(await store.listUnfinished());
    const sources = await store.listSources();
    for (const stored of sources) engine.#sources.add(new LiveSource(engine.#ports, stored));
    await keepSeenVersions(engine.#ports, sources);
    await engine.workflows.load();
    await settleRunningInstants(engine.#ports, engine.#sources.ids);
    engine.#leftRequests = await store.listPending(engine.#sources.ids);
    return engine;
  }

  /** Endpoints must already answer, because hooks call them. */
  async open(): Promise<void> {
    this.#scheduler.start(await this.#ports.store.listTimers(this.#sources.ids));
    await this.workflows.open();
    await this.#deliverer.start();
    this.#postponed.start();
    runPending(this.#ports, this.#sources, this.#leftRequests);
    this.#leftRequests = [];
    this.#chores = Promise.all([
      activateCutOff(this.#ports, this.#sources),
      keepPruned(this.#ports, () => [...this.#sources.ids, ...this.workflows.ids]),
      keepCool(this.#ports, this.#sources, [this.workbench, this.#stepBench]),
      keepRenewed(this.#ports, () => this.#accountsInUse()),
    ]);
  }

  private constructor(given: GivenPorts, owner: Identity) {
    this.owner = owner;
    const ports: EnginePorts = {
      ...given,
      runner: withTriggerUnits(given.runner, given.clock),
      credentials: new Credentials(given),
      processes: new ProcessBudget(given.settings.maxProcesses, () => this.#sources.coolLongestIdle() || this.#stepBench.makePlace()),
      onDeliveries: (listeners) => this.#deliverer.wake(listeners),
      onPostponed: () => this.#postponed.wake(),
    };
    this.#ports = ports;
    this.webhooks = new Webhooks({ ...ports, onWebhookChanged: (id) => this.#deliverer.webhookChanged(id) });
    this.workbench = new Workbench(ports);
    this.registries = new Registries(ports);
    this.components = new Components({ ...ports, workbench: this.workbench, registries: this.registries });
    this.history = new History(ports);
    this.replays = new Replays({ ...ports, history: this.history, find: (id) => this.find(id) });
    this.events = new KeptEvents(ports);
    this.deliveries = new Deliveries({ ...ports, onRetried: (id) => this.#deliverer.retried(id) });
    this.sharedStores = new SharedStores({ ...ports, workflowsWith: (name) => this.workflows.withDataStore(name) }, this.#sources);
    this.apiKeys = new ApiKeys(ports);
    this.versions = new Versions(ports);
    this.accounts = new Accounts({ ...ports, workflowsWith: (id) => this.workflows.withAccount(id) });
    this.apps = new Apps(ports, this.registries);
    this.oauthFlows = new OAuthFlows(ports, this.accounts);
    this.#deliverer = new Deliverer(ports, {
      receive: async (id, trigger) => (isWorkflowId(id) ? this.workflows.receive(id, trigger) : this.#requireActive(id).invoke(trigger)),
      concurrencyOf: (id) => this.workflows.concurrencyOf(id) ?? ports.settings.deliveryConcurrency,
    });
    this.#scheduler = new Scheduler(ports, { invoke: async (sourceId, trigger, id) => this.#sources.byId(sourceId)?.invoke(trigger, { id }) });
    this.#postponed = new PostponedEmitter(ports);
    this.#acceptor = new RequestAcceptor(ports, this.#over.signal);
    const { maxProcesses, idleMs } = ports.settings;
    this.#stepBench = new Workbench(ports, { most: maxProcesses, idleMs, places: ports.processes });
    this.workflows = new Workflows(
      { ...ports, workbench: this.workbench, bench: this.#stepBench, answers: new Answers(ports.clock), tokens: new ExpectedTokens(), ownerId: owner.userId },
      this.#hosting,
    );
  }

  /** Excludes sources that are being deployed and triggers of workflows. Newest first. */
  newestSources(): readonly LiveSource[] {
    return this.#sources.newestFirst().filter(({ isShown, outline }) => isShown && outline.workflowId === undefined);
  }

  get processes(): { readonly count: number; readonly most: number; readonly waiting: number } {
    const { count, waiting } = this.#ports.processes;
    return { count, most: this.#ports.settings.maxProcesses, waiting };
  }

  get load(): LiveSource["load"] {
    let [running, waiting] = [0, 0];
    for (const { load } of this.#sources.all()) [running, waiting] = [running + load.running, waiting + load.waiting];
    return { running, waiting };
  }

  get feed(): EventFeed {
    return this.#ports.feed;
  }

  get endpointUrl(): (key: string) => string {
    return (key) => this.#ports.settings.endpointUrl(key);
  }

  get allowsImports(): boolean {
    return this.#ports.settings.allowsImports;
  }

  /** Throws PD_ACCOUNT_NOT_FOUND, PD_BAD_INPUT. */
  async testAccount(idOrName: string, probe: AppProbe | undefined): Promise<AccountTest> {
    const { credentials, prober } = this.#ports;
    const published = { workbench: this.workbench, registries: this.registries };
    return testAccount({ credentials, prober, askPublished: (account) => askPublished(published, account) }, await this.accounts.find(idOrName), probe);
  }

  async appOfComponent(slug: string, code: DeployRequest["code"]): Promise<App | undefined> {
    return this.apps.find(slug, code.kind === "saved" ? code.component.code : (await resolveCode(this.#ports, code)).code);
  }

  deploy(request: DeployRequest): Promise<LiveSource> {
    return deploy(this.#ports, this.#hosting, request);
  }

  importSource(request: ImportRequest): Promise<LiveSource> {
    return importSource(this.#ports, this.#hosting, request);
  }

  /** Throws PD_SOURCE_NOT_FOUND and PD_AMBIGUOUS. */
  find(word: string, attempted = "find source", isExact = false): LiveSource {
    return this.#sources.find(word, { attempted, isExact });
  }

  /** Finds a source or a workflow. Throws PD_SOURCE_NOT_FOUND and PD_AMBIGUOUS. */
  findDeployed(word: string, attempted: string, isExact = false): Pick<DeployedComponent, "id" | "slug"> {
    const live = this.#sources.byIdOrSlug(word) ?? theNamed([...this.workflows.named(), ...this.#sources.named()], word, { attempted, isExact }).live;
    return live instanceof LiveSource ? live.outline : live.source;
  }

  isDeployed(id: string): boolean {
    return (isDeployedId(id) && this.#sources.byId(id) !== undefined) || this.workflows.concurrencyOf(id) !== undefined;
  }

  timersOf(sources: readonly LiveSource[]): Promise<readonly Timer[]> {
    return this.#ports.store.listTimers(sources.map(({ outline }) => outline.id));
  }

  /** Timers that do not fire because their rows cannot be read. */
  unreadableTimersOf(sources: readonly LiveSource[]): Promise<readonly UnreadableTimer[]> {
    return this.#ports.store.listUnreadableTimers(sources.map(({ outline }) => outline.id));
  }

  /** Key → JSON text. */
  stateOf({ outline }: LiveSource): Promise<Readonly<Record<string, string>>> {
    return this.#ports.store.readState(outline.id);
  }

  /** Leaves out sources that no longer exist. */
  activityOf(ids: readonly string[]): Promise<readonly SourceActivity[]> {
    const known = new Set<string>(ids);
    return activityOf(
      this.#ports,
      [...this.#sources.all()].filter(({ outline }) => known.has(outline.id)),
    );
  }

  export(live: LiveSource, wishes: ExportWishes): Promise<ExportedSource> {
    return exportSource(this.#ports.store, live, wishes);
  }

  async update(live: LiveSource, request: UpdateRequest): Promise<LiveSource> {
    refuseTrigger(live, "change");
    return update(this.#ports, this.#hosting, { live, request });
  }

  /** Deploys earlier code as a new version. Without `number`, the code before the current one. Throws PD_NOT_FOUND. */
  async rollback(live: LiveSource, number: number | undefined, by: Pick<UpdateRequest, "isForeign" | "isForced"> = {}): Promise<LiveSource> {
    const { component } = await this.versions.target(live, number);
    return this.update(live, { ...by, version: component });
  }

  /** Attaches a debugger to the current and later versions, or detaches it when `link` is undefined. Throws PD_CONFLICT and PD_BAD_INPUT. */
  async debug(live: LiveSource, link: DebugLink | undefined): Promise<void> {
    refuseTrigger(live, "debug");
    return debug(this.#sources, live, link);
  }

  async delete(live: LiveSource, force: boolean): Promise<void> {
    refuseTrigger(live, "delete");
    return deleteSource(this.#ports, this.#hosting, { live, force });
  }

  /** Throws PD_BAD_INPUT when the component has no `sampleEmit`. */
  emitSample(live: LiveSource): Promise<CommittedRun> {
    if (live.definition.hasSample !== true) throw new PdError("PD_BAD_INPUT", `Cannot emit a sample event of ${live.source.slug}: it has no sampleEmit`);
    return live.invoke({ kind: "sample" });
  }

  async run(live: LiveSource, event: JsonValue | undefined): Promise<CommittedRun> {
    return live.invoke({ kind: "manual", event: event ?? (await manualEvent(this.#ports, live)) });
  }

  hasEndpoint(endpointKey: string): boolean {
    return this.#sources.byEndpoint(endpointKey)?.source.active === true;
  }

  /** Undefined when no active source has this key. */
  async accept(endpointKey: string, trigger: HttpTrigger): Promise<HttpResponse | undefined> {
    const live = this.#sources.byEndpoint(endpointKey);
    if (live?.source.active !== true) return undefined;
    const answer = live.source.workflowId === undefined ? undefined : await this.workflows.requests.answer(live, trigger);
    return answer ?? this.#acceptor.accept(live, trigger);
  }

  /** Lets calls in flight finish and interrupts them after `graceMs`. Abort the ports' signal first. */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#ports;
    await Promise.all([this.#scheduler[Symbol.asyncDispose](), this.#postponed[Symbol.asyncDispose]()]);
    this.#ports.feed.endAll();
    const grace = new AbortController();
    this.#ports.processes.close(new PdError("PD_STOPPING", "Cannot start a process: the server is stopping"));
    // An interrupted delivery to a webhook is sent again after the next start, under the same id.
    const delivered = this.#deliverer.stop(Math.min(graceMs, DELIVERY_GRACE_MS));
    const stopped = Promise.all([...[...this.#sources.all()].map((live) => live.stop()), this.workflows.stop()]);
    const { credentials } = this.#ports;
    void Promise.all([stopped, this.workbench.untilIdle(), this.#stepBench.untilIdle(), credentials.untilSettled()]).then(() => grace.abort());
    await clock.sleepUntil(clock.now() + graceMs, grace.signal);
    credentials.cutOff();
    this.workbench.close();
    this.#stepBench.close();
    for (const live of this.#sources.all()) live.kill("the server stopped");
    await Promise.all([stopped, delivered, this.#chores, credentials.close()]);
    this.#over.abort();
  }

  get #hosting(): Hosting {
    return { sources: this.#sources, timers: this.#scheduler };
  }

  async #accountsInUse(): Promise<readonly string[]> {
    const ofSources = [...this.#sources.all()].flatMap((live) => (unreadableBecause(live) === undefined && live.source.active ? accountsOf(live) : []));
    return [...ofSources, ...(await this.workflows.accountsInUse())];
  }

  #requireActive(id: string): LiveSource {
    const live = this.find(id, "deliver to");
    if (!live.source.active) throw new PdError("PD_SOURCE_INACTIVE", `Cannot deliver to ${live.source.slug}: it is not active`);
    return live;
  }
}

function refuseTrigger({ outline: { id, workflowId } }: LiveSource, attempted: string): void {
  if (workflowId === undefined) return;
  throw new PdError("PD_BAD_INPUT", `Cannot ${attempted} ${id}: it is a trigger of workflow ${workflowId}`, {
    fix: `Change triggers in its workflow.yaml, or pd update ${workflowId}`,
  });
}
