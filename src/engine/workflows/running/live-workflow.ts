import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { PdError, isOfDatabase, messageOf } from "../../../domain/errors.ts";
import { type RunId, type WorkflowId, isDeployedId, isWorkflowId, runId } from "../../../domain/ids.ts";
import { pathOfRun } from "../../../domain/page-path.ts";
import { mailServerIn } from "../../../domain/account/mail.ts";
import type { EventTrigger } from "../../../domain/run/trigger.ts";
import { granted } from "../../../domain/source/process-grant.ts";
import { bindingOf } from "../../../domain/workflow/binding.ts";
import { memoryNotes } from "../../../domain/workflow/memory-wish.ts";
import type { RunTrigger, StepRecord, WorkflowRun } from "../../../domain/workflow/run.ts";
import type { ComponentStore } from "../../../ports/stores/component-store.ts";
import type { DebugLink } from "../../../ports/debugger.ts";
import type { EngineSettings } from "../../../ports/engine-settings.ts";
import type { Log } from "../../../ports/log.ts";
import type { RunFiles } from "../../../ports/run-files.ts";
import type { RunStore } from "../../../ports/stores/run-store.ts";
import type { WorkflowStore } from "../../../ports/stores/workflow-store.ts";
import { type CommitPorts, commitRun } from "../../runs/commits/commit-run.ts";
import { isInDoubt } from "../../runs/commits/in-doubt.ts";
import { StateOwnership } from "../../runs/source/state-ownership.ts";
import { Usage } from "../../runs/source/usage.ts";
import type { Answers } from "./answers.ts";
import type { StepPorts, StepSurroundings } from "./call-step.ts";
import type { ExpectedTokens } from "./expected-tokens.ts";
import { LiveRun, type RunHost } from "./live-run.ts";
import { type WorkflowPlan, readPlan, accountsIn } from "../plan.ts";
import { runContext, triggerContext } from "./run-context.ts";
import { filesForCall } from "./run-folder.ts";
import { Slots } from "./slots.ts";
import { Throttle } from "./throttle.ts";

export interface WorkflowPorts extends CommitPorts, StepPorts {
  readonly store: WorkflowStore & Pick<ComponentStore, "getComponent" | "listVersions"> & RunStore & StepPorts["store"];
  readonly log: Log;
  readonly settings: Pick<EngineSettings, "endpointUrl" | "pageUrl" | "deadlineMs" | "memoryMb" | "enclosesPrograms" | "allowsAddons">;
  readonly answers: Answers;
  readonly tokens: ExpectedTokens;
  readonly runFiles: RunFiles;
  readonly ownerId: string;
  /** A step waits and may be due first. */
  readonly onWait: () => void;
}

/** Most servers have no workflow, and the JavaScript parser is large. */
const stepCalls = () => import("./call-step.ts");

const DAY_MS = 24 * 60 * 60 * 1000;
/** Growing pause after the database could not be asked. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Tries of a run that fails outside its steps. */
const MOST_TRIES = 6;

/** Only this host commits the workflow's steps. */
export class LiveWorkflow {
  source: DeployedComponent;
  readonly id: WorkflowId;
  isShown: boolean;
  /** Takes effect with the next call of a step. */
  debug: DebugLink | undefined;
  readonly #gone = new AbortController();
  readonly #ports: WorkflowPorts;
  readonly #plans = new Map<number, Promise<WorkflowPlan>>();
  readonly #live = new Map<RunId, LiveRun>();
  readonly #pausing = new Set<RunId>();
  readonly #slots = new Slots(1);
  readonly #usage: Usage;
  readonly #ownership: StateOwnership;
  readonly #host: RunHost;
  /** Mailed failure → time until which it is not mailed again. */
  readonly #mailedUntil = new Map<string, number>();
  readonly #throttle: Throttle;

  constructor(ports: WorkflowPorts, { source, isShown }: { source: DeployedComponent; isShown: boolean }) {
    if (!isWorkflowId(source.id)) throw new Error(`${source.id} is not a workflow`);
    this.#ports = ports;
    this.id = source.id;
    this.source = source;
    this.isShown = isShown;
    this.#usage = new Usage(ports.clock);
    this.#ownership = new StateOwnership(ports.store, source.id);
    this.#throttle = new Throttle(ports, { workflowId: this.id, limit: async () => (await this.plan()).workflow.settings.throttle });
    this.#host = this.#hostOf();
    this.#resize();
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isGone(): boolean {
    return this.gone.aborted;
  }

  markGone(): void {
    this.#gone.abort();
  }

  plan(version: number = this.source.version): Promise<WorkflowPlan> {
    const known = this.#plans.get(version);
    if (known !== undefined) return known;
    const reading = this.#readPlan(version);
    this.#plans.set(version, reading);
    reading.catch(() => this.#plans.delete(version));
    return reading;
  }

  /** New runs use this version. Runs in progress stay on theirs. */
  switchTo(source: DeployedComponent, plan?: WorkflowPlan): void {
    this.source = source;
    // Runs on older versions read theirs again.
    this.#plans.clear();
    if (plan !== undefined) this.#plans.set(source.version, Promise.resolve(plan));
    this.#resize();
  }

  get concurrency(): number {
    return this.#slots.most;
  }

  surroundings({ workflow, code }: WorkflowPlan): StepSurroundings {
    const { env, configured, componentId, settings } = this.source;
    // An earlier version may contain another user's code, which must not run under the debugger.
    const debug = code.id === componentId ? this.debug : undefined;
    const { accounts, stores, limits } = bindingOf(configured);
    const { timeoutSeconds = workflow.settings.timeout, ...grant } = limits;
    return {
      workflowId: this.id,
      env,
      accounts,
      stores,
      grant: granted({ allowsPrograms: settings.allow_run, ...grant }),
      isMailOptional: workflow.settings.isMailOptional,
      deadlineMs: timeoutSeconds * 1000,
      debug,
    };
  }

  /** Settings of its file that its steps do not get. */
  unmetWishes({ workflow }: WorkflowPlan): readonly string[] {
    return memoryNotes(workflow, bindingOf(this.source.configured).limits.memoryMb ?? this.#ports.settings.memoryMb);
  }

  get host(): RunHost {
    return this.#host;
  }

  /** Ids on this server. */
  async accounts(): Promise<readonly string[]> {
    const { accounts } = bindingOf(this.source.configured);
    return accountsIn(await this.plan()).map(({ id }) => accounts[id] ?? id);
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#live.size, waiting: this.#slots.waiting };
  }

  /**
   * Starts a run for a message. Resolves when the run has ended or waits. Throws PD_SOURCE_INACTIVE, PD_SOURCE_NOT_FOUND, PD_STOPPING, PD_NOT_STORED; the
   * message then stays due.
   */
  receive({ emitterId, channel, messageId, event }: EventTrigger): Promise<void> {
    const kind = emitterId.startsWith("hi_") ? "http" : emitterId.startsWith("ti_") ? "schedule" : "event";
    const emitter = isDeployedId(emitterId) ? { emitterId } : {};
    return this.#usage.during(async () => {
      await this.plan();
      const begun = await this.#throttle.admitted();
      const work = this.#slots.during(async () => {
        if (!this.source.active) throw new PdError("PD_SOURCE_INACTIVE", `Cannot run ${this.source.slug}: it is not active`);
        const run = await this.#begin({ kind, event, ...emitter, channel, messageId });
        begun();
        // An earlier delivery has already started the run.
        if (run.isNew) await this.#workOn(new LiveRun(this.#host, run.run.id, run.run));
      });
      await work.finally(begun);
    });
  }

  /** Resolves as soon as the run is stored. */
  async start(trigger: RunTrigger, repeat?: { rerunOf: RunId; from?: string; records: readonly StepRecord[] }): Promise<WorkflowRun> {
    const { clock, store } = this.#ports;
    const now = clock.now();
    const { records = [], ...origin } = repeat ?? {};
    const run: WorkflowRun = { ...this.#newRun(trigger, now), ...origin };
    await store.beginRun(run, records);
    void this.goOn(run.id);
    return run;
  }

  /** `record` is a step whose wait is over. */
  goOn(id: RunId, record?: StepRecord): Promise<void> {
    if (record !== undefined && this.#live.get(id)?.take(record) === true) return Promise.resolve();
    const known = this.#live.get(id);
    // A pausing run reads the store when it continues.
    if (this.#pausing.has(id) || (known !== undefined && record === undefined)) return Promise.resolve();
    const run = new LiveRun(this.#host, id);
    this.#live.set(id, run);
    return this.#inSlot(() => this.#workOn(run)).catch((error: unknown) => {
      if (this.#live.get(id) === run) this.#live.delete(id);
      if (!this.#ports.signal.aborted && !this.isGone) this.#ports.log.error("a run of a workflow cannot continue", { run: id, reason: messageOf(error) });
    });
  }

  /** Returns false when the run has ended or belongs to another workflow. */
  async cancel(id: RunId, reason: string): Promise<boolean> {
    const { clock, store, meter } = this.#ports;
    const run = await store.getRun(id);
    const now = clock.now();
    if (run?.workflowId !== this.id || !(await store.cancelRun(id, now, reason))) return false;
    meter.workflowRan({ scope: this.id, id, state: "cancelled", durationMs: now - run.startedAt });
    const live = this.#live.get(id);
    if (live === undefined) await this.#dropFiles(id);
    else live.cancel();
    return true;
  }

  /** Like the hosted platform, reports the same failure once a day. */
  async #mailFailure({ id, version, failure }: WorkflowRun): Promise<void> {
    const { store, mailer, clock, log, settings } = this.#ports;
    const { name, slug } = this.source;
    const { namespace = "", message = "" } = failure ?? {};
    const [key, now] = [JSON.stringify([namespace, message]), clock.now()];
    if (!(await this.plan(version)).workflow.settings.mailsErrors || now < (this.#mailedUntil.get(key) ?? 0)) return;
    const server = mailServerIn(await store.listAccounts());
    if (server === undefined) return;
    for (const [known, until] of this.#mailedUntil) if (until <= now) this.#mailedUntil.delete(known);
    this.#mailedUntil.set(key, now + DAY_MS);
    const text = `Step ${namespace} of ${name} failed:\n\n${message}\n\npd runs ${id} shows the run, pd rerun ${id} runs it again.\n${settings.pageUrl()}${pathOfRun(this.id, id)}\nThe same failure is mailed once a day. pd runs ${slug} --failed lists all.`;
    await mailer
      .send(server, { subject: `${name}: ${namespace} failed`, text })
      .catch((error: unknown) => log.error("the mail about a failed run could not be sent", { run: id, reason: messageOf(error) }));
  }

  /** The next start removes the rest. */
  async #dropFiles(id: RunId): Promise<void> {
    const { runFiles, log } = this.#ports;
    await runFiles.drop(id).catch((error: unknown) => log.warn("files of a run that has ended cannot be removed", { run: id, reason: messageOf(error) }));
  }

  untilIdle(): Promise<void> {
    return this.#usage.untilIdle();
  }

  #resize(): void {
    this.#throttle.changed();
    void this.plan().then(
      ({ workflow }) => this.#slots.resize(workflow.settings.concurrency),
      () => {},
    );
  }

  #inSlot<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#usage.during(async () => {
      await this.plan();
      return this.#slots.during(work);
    });
  }

  async #readPlan(version: number): Promise<WorkflowPlan> {
    const { store } = this.#ports;
    const { source } = this;
    const componentId =
      version === source.version ? source.componentId : (await store.listVersions(this.id)).find(({ number }) => number === version)?.componentId;
    if (componentId === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run version ${version} of ${source.slug}: it is not stored`);
    return readPlan(store, componentId);
  }

  #newRun(trigger: RunTrigger, startedAt: number): WorkflowRun {
    const id = runId(startedAt, this.#ports.clock.randomText(8));
    return { id, workflowId: this.id, version: this.source.version, trigger, state: "running", startedAt, wakes: 0 };
  }

  async #begin(trigger: RunTrigger): Promise<{ run: WorkflowRun; isNew: boolean }> {
    const { store, clock, signal } = this.#ports;
    if (signal.aborted) throw new PdError("PD_STOPPING", `Cannot run ${this.source.slug}: the server is stopping`);
    const run = this.#newRun(trigger, clock.now());
    const stored = await store.beginRun(run, []);
    return { run: stored, isNew: stored.id === run.id };
  }

  /** Retries a failure outside its steps from what is stored. */
  async #workOn(first: LiveRun): Promise<void> {
    const { signal, log } = this.#ports;
    const { id } = first;
    let run = first;
    let failures = 0;
    for (let tries = 1; ; tries++) {
      this.#live.set(id, run);
      try {
        return await run.work();
      } catch (error) {
        if (this.isGone || signal.aborted) throw error;
        if (!isOfDatabase(error) && ++failures >= MOST_TRIES) return await this.#fail(id, error);
        log.warn("a run of a workflow continues from its last step", { run: id, reason: messageOf(error) });
        await this.#pause(id, tries);
      } finally {
        if (this.#live.get(id) === run) this.#live.delete(id);
      }
      run = new LiveRun(this.#host, id);
    }
  }

  async #pause(id: RunId, tries: number): Promise<void> {
    const { signal, clock } = this.#ports;
    this.#pausing.add(id);
    try {
      await clock.sleepUntil(clock.now() + Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS), signal);
    } finally {
      this.#pausing.delete(id);
    }
  }

  async #fail(id: RunId, error: unknown): Promise<void> {
    const { store, clock, log } = this.#ports;
    const run = await store.getRun(id);
    log.error("a run of a workflow failed outside its steps", { run: id, reason: messageOf(error) });
    if (run === undefined) return;
    const endedAt = clock.now();
    await store.noteRun({ ...run, state: "failed", endedAt, failure: { namespace: "workflow", path: "", message: messageOf(error) } });
    this.#ports.meter.workflowRan({ scope: this.id, id, state: "failed", durationMs: endedAt - run.startedAt });
    await this.#dropFiles(id);
    this.#host.answer(run, undefined);
  }

  /** A finished step must not run again because the disk is full. */
  async #untilStored(id: RunId, store: () => Promise<void>): Promise<void> {
    const { signal, clock, log } = this.#ports;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await store();
      } catch (error) {
        const isPassing = isOfDatabase(error) && !isInDoubt(error);
        if (!isPassing || this.isGone || signal.aborted) throw error;
        // Other results in memory may be ahead of the store as well.
        this.#ownership.giveUp();
        log.warn("a step of a workflow could not be stored and is kept in memory", { run: id, reason: messageOf(error) });
        await clock.sleepUntil(clock.now() + pauseMs, signal);
      }
    }
  }

  #hostOf(): RunHost {
    const ports = this.#ports;
    const { clock, store, feed, answers, tokens, meter, signal } = ports;
    return {
      signal,
      now: () => clock.now(),
      random: () => clock.random(),
      randomText: (length) => clock.randomText(length),
      plan: (version) => this.plan(version),
      async read(id) {
        const run = await store.getRun(id);
        return run === undefined ? undefined : { run, records: await store.stepRecords(id) };
      },
      call: async (run, { plan, step, path: _path, terms, ...calling }) => {
        const component = plan.steps.get(step.namespace);
        if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run step ${step.namespace}: its code is gone`);
        const watched = plan.workflow.settings.records ? ({ thirdParties: { kind: "recorded" } } as const) : {};
        const { callStep } = await stepCalls();
        const files = await filesForCall(ports.runFiles, run.id, terms.id);
        return callStep(ports, this.surroundings(plan), { step, component, terms: { ...terms, files }, ...calling, ...watched });
      },
      decide: async (run, { value, steps }) =>
        (await stepCalls()).decide(ports, this.surroundings(await this.plan(run.version)), { value, steps, context: runContext(this.#owner, run) }),
      commit: async (step, invocation, result) => {
        // `callAction` stores the state of an action.
        await this.#untilStored(step.run.id, async () => {
          const owner = await this.#ownership.take();
          await commitRun(ports, { owner, strategy: undefined, invocation, result: { ...result, stateChanges: {} }, step });
        });
        if (step.record.state === "waiting") ports.onWait();
      },
      noteRun: (run) => store.noteRun(run),
      noteBegun: (run, record) => store.noteBegun(run.id, record),
      addresses: (token) => ({ resume_url: ports.settings.endpointUrl(`resume/${token}`), cancel_url: ports.settings.endpointUrl(`cancel/${token}`) }),
      context: (run) => runContext(this.#owner, run),
      triggerContext: (run) => triggerContext(this.#owner, run),
      observe: (id, trigger, at) => feed.observe(this.id, { kind: "started", id, at, trigger }),
      observeLine: (id, line) => feed.observe(this.id, { kind: "line", id, line }),
      answer: ({ trigger: { messageId, kind } }, response) => (kind === "http" && messageId !== undefined ? answers.settle(messageId, response) : undefined),
      ended: async (run) => {
        const { state, startedAt, endedAt } = run;
        if (endedAt !== undefined && state !== "running" && state !== "waiting")
          meter.workflowRan({ scope: this.id, id: run.id, state, durationMs: endedAt - startedAt });
        await this.#dropFiles(run.id);
        // The client must not wait for the e-mail.
        if (run.state === "failed") void this.#usage.during(() => this.#mailFailure(run));
      },
      expect: (token, run, work) => tokens.during(token, run, work),
    };
  }

  get #owner() {
    return { id: this.id, name: this.source.name, ownerId: this.#ports.ownerId };
  }
}
