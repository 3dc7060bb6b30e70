import type { ComponentDefinition, HookName } from "../../../domain/component/component.ts";
import {
  type DeployedComponent,
  type Provenance,
  type SourceOutline,
  type StoredSource,
  outlineOf,
  provenanceOf,
} from "../../../domain/source/deployed-component.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { invocationId } from "../../../domain/ids.ts";
import type { Method, StateChanges } from "../../../domain/run/invocation.ts";
import { isDeath, reasonToRunAgain } from "../../../domain/run/run-again.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { Trigger } from "../../../domain/run/trigger.ts";
import type { DebugLink } from "../../../ports/debugger.ts";
import type { CallReport, LatePart, Unit } from "../../../ports/runner.ts";
import type { CallQueue } from "./call-queue.ts";
import { type CommittedRun, commitRun } from "../commits/commit-run.ts";
import { refusedRun } from "../../accounts/credentials.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import { withoutState } from "./kept-state.ts";
import { type Draft, KnownSource } from "./known-source.ts";
import type { LiveState } from "./live-state.ts";
import { type HeldCalls, Machinery, NO_LOAD } from "./machinery.ts";
import { ONE_TRY, type Tried, type Try, untilItCounts } from "./run-tries.ts";
import type { SourceQuestions } from "../questions/source-questions.ts";
import type { Ready, Version, Warm } from "./ready.ts";
import type { RunPorts } from "./run-ports.ts";
import { type UnitSettings, rightsOf, unitCode } from "./source-units.ts";
import type { Usage } from "./usage.ts";

/**
 * One deployed component on this host. A cold source has only its record in memory. A warm source owns its stored state (see RunStore.open) and has a loaded
 * unit. During an update two versions are warm: running calls finish on the old unit, new calls use the new one, and each receives the other's state changes.
 */
export class LiveSource {
  /** False while the source is being deployed: it can be called but does not appear in lists. */
  isShown: boolean;
  /** True once the source has been deleted, or when its first deployment failed. */
  isGone = false;
  debug: DebugLink | undefined;
  isCooling = false;
  /** Includes versions that were rolled back, because calls may have run on them. */
  highestVersion: number;
  #killed: AbortController | undefined;
  #whyKilled: string | undefined;
  readonly #ports: RunPorts;
  /** Created on first use: a server may have thousands of sources that are never called. */
  #machinery: Machinery | undefined;
  #isStopping = false;
  #version: Version | undefined;
  #known: KnownSource;
  #isStored: boolean;

  constructor(ports: RunPorts, stored: StoredSource | Draft) {
    this.#ports = ports;
    this.#known = new KnownSource(stored);
    this.highestVersion = stored.outline.highestVersion;
    this.#isStored = stored.provenance !== undefined;
    this.isShown = this.#isStored;
  }

  get #running(): Machinery {
    if (this.#machinery !== undefined) return this.#machinery;
    this.#machinery = new Machinery(this.#ports, {
      of: this,
      late: (part, unit) => void this.#commitLate(part, unit),
      ended: (unit) => this.#unitEnded(unit),
      onDisowned: () => {
        if (this.#version !== undefined) this.#version.unit = undefined;
      },
    });
    if (this.#isStopping) this.#machinery.refuse(this.outline.slug);
    return this.#machinery;
  }

  get killed(): AbortSignal {
    this.#killed ??= new AbortController();
    if (this.#whyKilled !== undefined) this.#killed.abort(this.#whyKilled);
    return this.#killed.signal;
  }

  get endpoint(): string {
    return this.#ports.settings.endpointUrl(this.outline.endpointKey);
  }

  get isWarm(): boolean {
    return this.#machinery?.units.isEmpty === false;
  }

  async readComponent(): Promise<SavedComponent> {
    return (await this.#current()).component;
  }

  get outline(): SourceOutline {
    return this.#known.outline;
  }

  get source(): DeployedComponent {
    return this.#known.source;
  }

  /** Includes the dynamic props. */
  get definition(): ComponentDefinition {
    return this.#known.definition;
  }

  get provenance(): Provenance {
    return this.#known.provenance;
  }

  /** Keeps the processes from being cooled down until `work` has ended. */
  async keepWarm<Value>(work: () => Promise<Value>): Promise<Value> {
    const { usage } = this.#running;
    usage.begin();
    try {
      return await work();
    } finally {
      this.#endUse(usage);
    }
  }

  #endUse(usage: Usage): void {
    usage.end();
    if (usage.isIdle) this.#ports.processes.offer();
  }

  /** The source stays warm until `work` has ended. */
  withUnit<Value>(work: (unit: Unit) => Promise<Value>): Promise<Value> {
    return this.keepWarm(async () => work((await this.#warm()).unit));
  }

  /**
   * Calls `run`. Retries it alone when a try did not count and the call is not to blame. Throws PD_INTERRUPTED after too many tries. Rejects when the run could
   * not be started or stored.
   */
  async invoke(trigger: Trigger, options: InvokeOptions = {}): Promise<CommittedRun> {
    const { calls, usage } = this.#running;
    usage.begin();
    try {
      const attempt = (given: Try, isAlone: boolean): Promise<Tried> => calls.run(() => this.#call({ kind: "run", trigger }, trigger, given), isAlone);
      const first = await attempt({ options, tries: ONE_TRY.tries, notes: ONE_TRY.notes }, options.isAlone === true);
      if ("run" in first) return first.run;
      const { clock, signal } = this.#ports;
      return await untilItCounts({ clock, isOver: () => this.isGone || signal.aborted, attempt }, { name: this.source.slug, options, first });
    } finally {
      this.#endUse(usage);
    }
  }

  /** Returns undefined when the component does not have this hook. Throws PD_INTERRUPTED. */
  async callHook(hook: HookName): Promise<CommittedRun | undefined> {
    if (!this.definition.hooks.includes(hook)) return undefined;
    return this.keepWarm(async () => {
      const tried = await this.#call({ kind: "hook", hook }, { kind: "hook", hook }, ONE_TRY);
      if ("run" in tried) return tried.run;
      throw new PdError("PD_INTERRUPTED", `The ${hook} hook of ${this.source.slug} was interrupted: ${tried.reason}`);
    });
  }

  get questions(): SourceQuestions {
    return this.#running.questions;
  }

  /** The new unit receives every later state change. */
  async startUnit(settings: UnitSettings, stop?: AbortSignal): Promise<Unit> {
    const { units, state: live } = this.#running;
    const { state, epoch } = this.#isStored ? await live.take() : { state: {}, epoch: 0 };
    const debug = this.debug === undefined ? {} : { debug: this.debug };
    return units.start({ ...unitCode(this.#ports.packages, this.source, settings), ...debug, state, epoch }, stop);
  }

  /** Call when the record has been stored with `state`. Units that started earlier receive that state. */
  markStored(state: StateChanges): void {
    this.#isStored = true;
    this.#running.units.tell(state, 0, undefined);
  }

  holdCalls(): HeldCalls {
    return this.#running.holdCalls();
  }

  /** Sends new calls to this version. `retireOld` ends the previous unit after its calls have finished. */
  switchTo(source: DeployedComponent, component: SavedComponent, unit: Unit | undefined): { undo(): void; retireOld(): void } {
    const before = { known: this.#known, version: this.#version };
    this.#known = new KnownSource({ outline: outlineOf(source), source, provenance: provenanceOf(component) });
    this.highestVersion = Math.max(this.highestVersion, source.version);
    this.#version = { component, unit: unit ?? before.version?.unit, starting: undefined };
    const isSameUnit = unit === undefined || unit === before.version?.unit;
    // Calls on the new code must not wait for a run that hangs on the old code.
    if (!isSameUnit) this.#machinery?.calls.startOver();
    return {
      undo: () => {
        this.#known = before.known;
        this.#version = before.version;
        if (isSameUnit) return;
        this.#machinery?.calls.startOver();
        void unit.retire();
      },
      retireOld: () => {
        if (isSameUnit) return;
        void before.version?.unit?.retire({ isUnhurried: true });
        before.version?.starting?.then(
          (late) => void late.retire(),
          () => {},
        );
      },
    };
  }

  /** Loads the same packages in a spare process, so that the next version starts faster. */
  prepareNext({ bundle, packagesFolder }: Pick<SavedComponent, "bundle" | "packagesFolder">): void {
    if (this.source.allowsPrograms !== true) this.#ports.runner.prepare(unitCode(this.#ports.packages, this.source, { bundle, packagesFolder, env: {} }));
  }

  get state(): LiveState {
    return this.#running.state;
  }

  writeState(changes: StateChanges): Promise<void> {
    return this.#running.state.write(this.source.slug, changes);
  }

  coolDown(idleMs: number): void {
    if (this.idleMs === undefined || this.idleMs < idleMs) return;
    this.isCooling = true;
    void this.#running.units.retire().finally(() => (this.isCooling = false));
  }

  /** Undefined without a process and while it works. */
  get idleMs(): number | undefined {
    return this.#machinery?.idleMs;
  }

  get load(): CallQueue["load"] {
    return this.#machinery?.calls.load ?? NO_LOAD;
  }

  async memoryBytes(): Promise<number | undefined> {
    const unit = this.#version?.unit;
    return unit?.isUsable === true ? unit.memoryBytes() : undefined;
  }

  kill(reason: string): void {
    this.#whyKilled ??= reason;
    this.#killed?.abort(reason);
    this.#machinery?.units.end(reason);
  }

  /** Lets running calls finish and rejects waiting ones. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#machinery?.refuse(this.outline.slug);
    await this.#machinery?.untilGone();
  }

  /** Everything a call needs, when it is available without waiting. */
  get #readyNow(): Ready | undefined {
    const version = this.#version;
    const { owned } = this.#running.state;
    if (version?.unit?.isUsable !== true || owned === undefined) return undefined;
    const { source, reachWithoutAccounts: reach } = this.#known;
    return reach === undefined ? undefined : { source, reach, warm: { version, unit: version.unit, owned } };
  }

  /** Repeats when the source changes while its accounts are fetched. Takes the unit last, because a unit may retire in between. */
  async #ready(): Promise<Ready> {
    for (;;) {
      const { source } = this;
      const reach = await this.#ports.credentials.reachOrRefusal(this.definition.props, source.configured);
      const warm = await this.#warm();
      if (this.source === source) return { source, reach, warm };
    }
  }

  async #call(method: Method, trigger: Trigger, { options, tries, notes }: Try): Promise<Tried> {
    const { clock, feed, settings } = this.#ports;
    const { source, reach, warm } = this.#readyNow ?? (await this.#ready());
    const { version, unit, owned } = warm;
    const id = options.id ?? invocationId(clock.now(), clock.randomText(8));
    const startedAt = clock.now();
    const { replayOf } = options;
    feed.observe(source.id, { kind: "started", id, at: startedAt, trigger, replayOf });
    const report: CallReport = {
      log: (line) => {
        feed.observe(source.id, { kind: "line", id, line });
        // Readers follow the workflow, not its trigger.
        if (source.workflowId !== undefined) feed.observe(source.workflowId, { kind: "line", id, line });
      },
      respond: (response, isUnsettled) => options.onResponse?.(response, isUnsettled),
      takesStreams: options.onResponse !== undefined,
    };
    const triggerText = method.kind === "run" ? JSON.stringify(trigger) : undefined;
    const { dynamicProps } = source;
    const { deadlineMs } = settings;
    const told =
      reach instanceof PdError
        ? refusedRun(reach)
        : await unit.call(
            {
              id,
              method,
              triggerText,
              configured: reach.configured,
              dynamicProps,
              secrets: reach.secrets,
              dataStores: reach.dataStores,
              endpoint: this.endpoint,
              deadlineMs,
            },
            report,
          );
    const { state } = this.#running;
    const reason = state.lost(owned) ?? state.clash(warm, told, trigger) ?? reasonToRunAgain(told, trigger, tries);
    if (reason !== undefined) return { reason, wasDeath: isDeath(told) };
    const fitting = owned.hasRoomFor(told.stateChanges) ? told : withoutState(told, source.slug);
    const result = notes.length === 0 ? fitting : { ...fitting, logs: [...notes, ...fitting.logs] };
    options.onEnded?.();
    state.spread(owned, result.stateChanges, unit);
    const responseStatus = options.responseStatus?.();
    const invocation = { id, sourceId: source.id, version: source.version, trigger, startedAt, replayOf, responseStatus };
    const strategy = version.component.definition.dedupe;
    const run = commitRun(this.#ports, { owner: owned, strategy, invocation, result, triggerText });
    return { run: await state.commit(owned, run) };
  }

  async #current(): Promise<Version> {
    for (;;) {
      if (this.#version !== undefined) return this.#version;
      const { source } = this;
      const component = await this.#ports.store.getComponent(source.componentId);
      // While the code was read, the source switched versions or another call set `#version`.
      if (this.source !== source || this.#version !== undefined) continue;
      if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run ${source.slug}: its code ${source.componentId} is gone`);
      this.#version = { component, unit: undefined, starting: undefined };
    }
  }

  /** Checks the unit last, because it may retire while this waits. */
  async #warm(): Promise<Warm> {
    for (;;) {
      const version = await this.#current();
      const owned = await this.#running.state.take();
      if (version !== this.#version) continue;
      if (version.unit?.isUsable === true) return { version, unit: version.unit, owned };
      const { bundle, packagesFolder } = version.component;
      version.starting ??= this.startUnit({ bundle, packagesFolder, ...rightsOf(this.source) }).finally(() => (version.starting = undefined));
      version.unit = await version.starting;
    }
  }

  #unitEnded(unit: Unit | undefined): void {
    const { state, units, usage } = this.#running;
    if (unit !== undefined) state.forget(unit);
    if (this.#version !== undefined && this.#version.unit === unit) this.#version.unit = undefined;
    if (units.isEmpty && usage.isIdle) this.#goCold(state);
  }

  async #commitLate(part: LatePart, unit: Unit | undefined): Promise<void> {
    try {
      await this.#running.state.commitLate(part, unit, this.definition.dedupe);
    } catch (error) {
      this.#ports.log.warn("effects of a component after its run could not be stored", { source: this.source.slug, reason: messageOf(error) });
    }
  }

  #goCold(state: LiveState): void {
    state.giveUp();
    this.#version = undefined;
  }
}
