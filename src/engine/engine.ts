import { PdError, messageOf } from "../domain/errors.ts";
import { allMeters } from "../ports/meter.ts";
import { Alerts } from "./alerts/alerts.ts";
import { watchConditions } from "./alerts/watch-conditions.ts";
import { Search } from "./search/search.ts";
import { Trends } from "./trends/trends.ts";
import { type DeployedId, isWorkflowId } from "../domain/ids.ts";
import type { PendingRequest } from "../ports/stores/run-store.ts";
import type { Identity } from "../ports/stores/subscription-store.ts";
import { Accounts, accountsOf } from "./accounts/accounts.ts";
import { Apps } from "./accounts/apps.ts";
import { RequestAcceptor } from "./requests/accept-request.ts";
import { Endpoints } from "./requests/endpoints.ts";
import { Deployed } from "./deployed.ts";
import type { EngineSettings } from "../ports/engine-settings.ts";
import { Sources } from "./sources/sources.ts";
import { Credentials } from "./accounts/credentials.ts";
import { Deliverer } from "./deliveries/deliver.ts";
import { Replays } from "./runs/history/replays.ts";
import type { EventFeed } from "./runs/commits/event-feed.ts";
import { keepCool, keepPruned, keepRenewed } from "./housekeeping.ts";
import { LiveSource } from "./runs/source/live-source.ts";
import { OAuthFlows } from "./accounts/oauth-flows.ts";
import { ProcessBudget } from "./runs/source/process-budget.ts";
import type { EnginePorts } from "./ports.ts";
import { askPublished } from "./workbench/published-choices.ts";
import { PostponedEmitter } from "./deliveries/postponed-emitter.ts";
import { activateCutOff, keepSeenVersions, runPending, settleRunningInstants } from "./recover.ts";
import { Registries } from "./code/registries.ts";
import { HostedSources } from "./sources/hosted-sources.ts";
import { unreadableBecause } from "./runs/source/unreadable.ts";
import { Scheduler } from "./timers/scheduler.ts";
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
import { EventHistory } from "./runs/history/event-history.ts";
import { SharedStores } from "./sources/shared-stores.ts";

/** Receivers that do not answer delay a stop by at most this. */
const DELIVERY_GRACE_MS = 1000;

type GivenPorts = Omit<EnginePorts, "onDeliveries" | "onEventsDeleted" | "onPostponed" | "onTrouble" | "credentials" | "processes">;

export class Engine {
  readonly #ports: EnginePorts;
  readonly #hosted = new HostedSources();
  readonly #scheduler: Scheduler;
  readonly #deliverer: Deliverer;
  readonly #postponed: PostponedEmitter;
  readonly #over = new AbortController();
  readonly #stepBench: Workbench;
  readonly owner: Identity;
  readonly settings: EngineSettings;
  readonly feed: EventFeed;
  readonly processes: ProcessBudget;
  readonly sources: Sources;
  readonly deployed: Deployed;
  readonly endpoints: Endpoints;
  readonly components: Components;
  readonly workbench: Workbench;
  readonly registries: Registries;
  readonly history: History;
  readonly replays: Replays;
  readonly events: EventHistory;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly accounts: Accounts;
  readonly oauthFlows: OAuthFlows;
  readonly apps: Apps;
  readonly sharedStores: SharedStores;
  readonly apiKeys: ApiKeys;
  readonly workflows: Workflows;
  readonly trends: Trends;
  readonly search: Search;
  readonly alerts: Alerts;
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
    for (const stored of sources) engine.#hosted.add(new LiveSource(engine.#ports, stored));
    await keepSeenVersions(engine.#ports, sources);
    await engine.workflows.load();
    await engine.alerts.load();
    await settleRunningInstants(engine.#ports, engine.#hosted.ids);
    engine.#leftRequests = await store.listPending(engine.#hosted.ids);
    return engine;
  }

  /** Endpoints must already answer, because hooks call them. */
  async open(): Promise<void> {
    this.#scheduler.start(await this.#ports.store.listTimers(this.#hosted.ids));
    await this.workflows.open();
    await this.#deliverer.start();
    this.#postponed.start();
    runPending(this.#ports, this.#hosted, this.#leftRequests);
    this.#leftRequests = [];
    this.#chores = Promise.all([
      activateCutOff(this.#ports, this.#hosted),
      keepPruned(this.#ports, { deployed: () => [...this.#hosted.ids, ...this.workflows.ids], onPruned: (id) => this.search.pruned(id) }),
      keepCool(this.#ports, this.#hosted, [this.workbench, this.#stepBench]),
      keepRenewed(this.#ports, () => this.#accountsInUse()),
      this.trends.keep(),
      this.search.keep(),
      this.alerts.keep(),
      watchConditions({
        ...this.#ports,
        inactive: () => this.#inactive(),
        note: (trouble) => this.alerts.note(trouble),
        isWanted: () => this.alerts.list.length > 0,
      }),
    ]);
  }

  private constructor(given: GivenPorts, owner: Identity) {
    this.owner = owner;
    this.search = this.#searchOf(given);
    this.trends = new Trends({ ...given, isCounted: (scope) => this.deployed.isOnItsOwn(scope) });
    const ports: EnginePorts = {
      ...given,
      meter: allMeters([given.meter, this.trends, this.search]),
      runner: withTriggerUnits(given.runner, given.clock),
      credentials: new Credentials(given),
      processes: new ProcessBudget(given.settings.maxProcesses, () => this.#hosted.coolLongestIdle() || this.#stepBench.makePlace()),
      onDeliveries: (listeners) => this.#deliverer.wake(listeners),
      onEventsDeleted: (id, range) => this.search.eventsDeleted(id, range),
      onPostponed: () => this.#postponed.wake(),
      onTrouble: (trouble) => this.alerts.note(trouble),
    };
    ports.feed.watchEvents((id) => this.search.eventsStored(id));
    this.#ports = ports;
    this.settings = ports.settings;
    this.feed = ports.feed;
    this.processes = ports.processes;
    this.#scheduler = new Scheduler(ports, { invoke: async (sourceId, trigger, id) => this.#hosted.byId(sourceId)?.invoke(trigger, { id }) });
    const hosting = { sources: this.#hosted, timers: this.#scheduler };
    this.sources = new Sources(ports, hosting);
    this.webhooks = new Webhooks({ ...ports, onWebhookChanged: (id) => this.#deliverer.webhookChanged(id) });
    this.workbench = new Workbench(ports);
    this.registries = new Registries(ports);
    this.components = new Components({ ...ports, workbench: this.workbench, registries: this.registries });
    this.history = new History(ports);
    this.replays = new Replays({ ...ports, history: this.history, find: (id) => this.sources.find(id) });
    this.events = new EventHistory(ports);
    this.deliveries = new Deliveries({ ...ports, onRetried: (id) => this.#deliverer.retried(id) });
    this.sharedStores = new SharedStores({ ...ports, workflowsWith: (name) => this.workflows.withDataStore(name) }, this.#hosted);
    this.apiKeys = new ApiKeys(ports);
    this.accounts = new Accounts({
      ...ports,
      workflowsWith: (id) => this.workflows.withAccount(id),
      askPublished: (account) => askPublished({ workbench: this.workbench, registries: this.registries }, account),
    });
    this.apps = new Apps(ports, this.registries);
    this.oauthFlows = new OAuthFlows(ports, this.accounts);
    this.#deliverer = new Deliverer(ports, {
      receive: async (id, trigger) => (isWorkflowId(id) ? this.workflows.receive(id, trigger) : this.#requireActive(id).invoke(trigger)),
      concurrencyOf: (id) => this.workflows.concurrencyOf(id) ?? ports.settings.deliveryConcurrency,
    });
    this.#postponed = new PostponedEmitter(ports);
    this.endpoints = new Endpoints({
      sourceOf: (key) => this.#hosted.byEndpoint(key),
      answerOfWorkflow: (live, trigger) => this.workflows.requests.answer(live, trigger),
      acceptor: new RequestAcceptor(ports, this.#over.signal),
    });
    const { maxProcesses, idleMs } = ports.settings;
    this.#stepBench = new Workbench(ports, { most: maxProcesses, idleMs, places: ports.processes });
    this.workflows = new Workflows(
      { ...ports, workbench: this.workbench, bench: this.#stepBench, answers: new Answers(ports.clock), tokens: new ExpectedTokens(), ownerId: owner.userId },
      hosting,
    );
    this.deployed = new Deployed(this.#hosted, this.workflows);
    this.alerts = this.#alertsOf(ports);
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
    const stopped = Promise.all([...[...this.#hosted.all()].map((live) => live.stop()), this.workflows.stop()]);
    const { credentials } = this.#ports;
    void Promise.all([stopped, this.workbench.untilIdle(), this.#stepBench.untilIdle(), credentials.untilSettled()]).then(() => grace.abort());
    await clock.sleepUntil(clock.now() + graceMs, grace.signal);
    credentials.cutOff();
    this.workbench.close();
    this.#stepBench.close();
    for (const live of this.#hosted.all()) live.kill("the server stopped");
    await Promise.all([stopped, delivered, this.#chores, credentials.close()]);
    await this.alerts.close();
    await this.trends.store().catch((error: unknown) => this.#ports.log.warn("the figures of charts could not be stored", { reason: messageOf(error) }));
    this.#over.abort();
  }

  async #accountsInUse(): Promise<readonly string[]> {
    const ofSources = [...this.#hosted.all()].flatMap((live) => (unreadableBecause(live) === undefined && live.source.active ? accountsOf(live) : []));
    return [...ofSources, ...(await this.workflows.accountsInUse())];
  }

  #searchOf(given: GivenPorts): Search {
    const scopes = (): readonly DeployedId[] => this.deployed.named().map(({ id }) => id);
    return new Search({ ...given, index: given.searchIndex, retention: given.settings.retention, scopes });
  }

  #alertsOf(ports: EnginePorts): Alerts {
    return new Alerts({
      ...ports,
      trends: this.trends,
      named: () => this.deployed.named(),
      ownerOf: (id) => this.#hosted.byId(id)?.outline.workflowId ?? id,
    });
  }

  #inactive(): readonly DeployedId[] {
    const sources = [...this.#hosted.all()].filter((live) => live.outline.workflowId === undefined && unreadableBecause(live) === undefined);
    return [...sources, ...this.workflows.list()].filter(({ source }) => !source.active).map(({ source }) => source.id);
  }

  #requireActive(id: string): LiveSource {
    const live = this.sources.find(id, "deliver to");
    if (!live.source.active) throw new PdError("PD_SOURCE_INACTIVE", `Cannot deliver to ${live.source.slug}: it is not active`);
    return live;
  }
}
