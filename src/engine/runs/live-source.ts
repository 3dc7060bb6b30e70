import type { ComponentDefinition, HookName } from "../../domain/component.ts";
import { type DeployedComponent, type Provenance, type SourceOutline, type StoredSource, outlineOf, provenanceOf } from "../../domain/deployed-component.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { invocationId } from "../../domain/ids.ts";
import type { Method, StateChanges } from "../../domain/invocation.ts";
import { isDeath, reasonToRunAgain } from "../../domain/run-again.ts";
import type { SavedComponent } from "../../domain/saved-component.ts";
import type { Trigger } from "../../domain/trigger.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import type { CallReport, LatePart, Unit } from "../../ports/runner.ts";
import type { CallQueue } from "./call-queue.ts";
import { type CommittedRun, commitRun } from "./commit-run.ts";
import { refusedRun } from "../accounts/credentials.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import { withoutState } from "./kept-state.ts";
import { type Draft, KnownSource } from "./known-source.ts";
import type { LiveState } from "./live-state.ts";
import { type HeldCalls, Machinery, NO_LOAD } from "./machinery.ts";
import { ONE_TRY, type Tried, type Try, untilItCounts } from "./run-tries.ts";
import type { SourceQuestions } from "./source-questions.ts";
import type { Ready, Version, Warm } from "./ready.ts";
import type { RunPorts } from "./run-ports.ts";
import { type UnitSettings, rightsOf, unitCode } from "./source-units.ts";
import type { Usage } from "./usage.ts";

/**
 * One deployed component as this host runs it. Cold: only the record. Warm: the stored state is owned (see
 * RunStore.open) and a unit is loaded. During an update two versions are warm: calls in flight finish on the old one
 * while new ones go to the new one, and each is told what the other writes.
 */
export class LiveSource {
  /** False while it is being deployed: it can be called, and no list has it. */
  isShown: boolean;
  /** It was deleted, or never came to be. */
  isGone = false;
  /** Whoever debugs it. */
  debug: DebugLink | undefined;
  /** Its process is on its way out. */
  isCooling = false;
  /** The highest number that a version has had, also one that was taken back: calls may have run on it. */
  highestVersion: number;
  /** Made for whoever wants to hear of it: most sources are killed unheard. */
  #killed: AbortController | undefined;
  #whyKilled: string | undefined;
  readonly #ports: RunPorts;
  /** Made when it is first wanted: a server may have thousands of sources that nobody calls. */
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

  /** What runs it. */
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

  /** Aborts, with the reason, when it is killed. */
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

  /** The code that new calls run on. */
  async readComponent(): Promise<SavedComponent> {
    return (await this.#current()).component;
  }

  get outline(): SourceOutline {
    return this.#known.outline;
  }

  get source(): DeployedComponent {
    return this.#known.source;
  }

  /** With the props that its values have added. */
  get definition(): ComponentDefinition {
    return this.#known.definition;
  }

  /** Where its code came from, and what is loaded before it. */
  get provenance(): Provenance {
    return this.#known.provenance;
  }

  /** Whatever is started for this work stays until it has ended. */
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

  /** Calls back with a unit of the current version, which stays until that has ended. */
  withUnit<Value>(work: (unit: Unit) => Promise<Value>): Promise<Value> {
    return this.keepWarm(async () => work((await this.#warm()).unit));
  }

  /** Calls `run`, and again, alone, when that did not count through no fault of its own. Rejects when the run could not be started or stored. */
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

  /** Calls a hook of the current version; `undefined` when it has none. */
  async callHook(hook: HookName): Promise<CommittedRun | undefined> {
    if (!this.definition.hooks.includes(hook)) return undefined;
    return this.keepWarm(async () => {
      const tried = await this.#call({ kind: "hook", hook }, { kind: "hook", hook }, ONE_TRY);
      if ("run" in tried) return tried.run;
      throw new PdError("PD_INTERRUPTED", `The ${hook} hook of ${this.source.slug} was interrupted: ${tried.reason}`);
    });
  }

  /** What it is called for because of what it answers. */
  get questions(): SourceQuestions {
    return this.#running.questions;
  }

  /** Starts a unit with other code beside the current one; it gets every change of the state from now on. `stop`: see `SourceUnits.start`. */
  async startUnit(settings: UnitSettings, stop?: AbortSignal): Promise<Unit> {
    const { units, state: live } = this.#running;
    const { state, epoch } = this.#isStored ? await live.take() : { state: {}, epoch: 0 };
    const debug = this.debug === undefined ? {} : { debug: this.debug };
    return units.start({ ...unitCode(this.#ports.packages, this.source, settings), ...debug, state, epoch }, stop);
  }

  /** The record is in the store from now on, with this state: units that were started before learn of it. */
  markStored(state: StateChanges): void {
    this.#isStored = true;
    this.#running.units.tell(state, 0, undefined);
  }

  /** Calls that come from now on would rather be answered by the version that is about to serve. */
  holdCalls(): HeldCalls {
    return this.#running.holdCalls();
  }

  /** New calls go to this version from now on. Returns what undoes it. */
  switchTo(source: DeployedComponent, component: SavedComponent, unit: Unit | undefined): { undo(): void; retireOld(): void } {
    const before = { known: this.#known, version: this.#version };
    this.#known = new KnownSource({ outline: outlineOf(source), source, provenance: provenanceOf(component) });
    this.highestVersion = Math.max(this.highestVersion, source.version);
    this.#version = { component, unit: unit ?? before.version?.unit, starting: undefined };
    const isSameUnit = unit === undefined || unit === before.version?.unit;
    // A run that hangs on the old code holds up nobody on the new.
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

  /** Gets the next version ready before there is one: the same packages, loaded. */
  prepareNext({ bundle, packagesFolder }: Pick<SavedComponent, "bundle" | "packagesFolder">): void {
    if (this.source.allowsPrograms !== true) this.#ports.runner.prepare(unitCode(this.#ports.packages, this.source, { bundle, packagesFolder, env: {} }));
  }

  /** What it remembers. */
  get state(): LiveState {
    return this.#running.state;
  }

  /** Writes to the state from outside; a warm unit sees it at once. */
  writeState(changes: StateChanges): Promise<void> {
    return this.#running.state.write(this.source.slug, changes);
  }

  /** Ends the process of a source that had nothing to do for a while. */
  coolDown(idleMs: number): void {
    if (this.idleMs === undefined || this.idleMs < idleMs) return;
    this.isCooling = true;
    void this.#running.units.retire().finally(() => (this.isCooling = false));
  }

  /** Since when its process has nothing to do; `undefined`: it has none, or is at work. */
  get idleMs(): number | undefined {
    return this.#machinery?.idleMs;
  }

  /** Calls that run, and calls that wait for their turn. */
  get load(): CallQueue["load"] {
    return this.#machinery?.calls.load ?? NO_LOAD;
  }

  /** Bytes of memory that its process takes up; `undefined`: it has none, or does not answer. */
  async memoryBytes(): Promise<number | undefined> {
    const unit = this.#version?.unit;
    return unit?.isUsable === true ? unit.memoryBytes() : undefined;
  }

  /** For good: it was deleted, or the server stops. */
  kill(reason: string): void {
    this.#whyKilled ??= reason;
    this.#killed?.abort(reason);
    this.#machinery?.units.end(reason);
  }

  /** What runs may finish, what waits is refused. Resolves when the units are gone and what they did is committed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#machinery?.refuse(this.outline.slug);
    await this.#machinery?.untilGone();
  }

  /** What a call needs, where all of it is there: most calls wait for nothing. */
  get #readyNow(): Ready | undefined {
    const version = this.#version;
    const { owned } = this.#running.state;
    if (version?.unit?.isUsable !== true || owned === undefined) return undefined;
    const { source, reachWithoutAccounts: reach } = this.#known;
    return reach === undefined ? undefined : { source, reach, warm: { version, unit: version.unit, owned } };
  }

  /** What a call needs. The source may be changed while its accounts are fetched; the unit is looked at last, as it may retire. */
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
        // Nobody looks at the trigger of a workflow by itself.
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

  /** The version that serves; a source that is cold has its code read. */
  async #current(): Promise<Version> {
    for (;;) {
      if (this.#version !== undefined) return this.#version;
      const { source } = this;
      const component = await this.#ports.store.getComponent(source.componentId);
      // Switched to another version meanwhile, or read by somebody else.
      if (this.source !== source || this.#version !== undefined) continue;
      if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run ${source.slug}: its code ${source.componentId} is gone`);
      this.#version = { component, unit: undefined, starting: undefined };
    }
  }

  /** A unit of the current version that takes calls. It may be retired while this waits, so it is looked at last. */
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
      this.#ports.log.warn("what a component did after its run could not be stored", { source: this.source.slug, reason: messageOf(error) });
    }
  }

  /** An idle source keeps its record alone in memory. */
  #goCold(state: LiveState): void {
    state.giveUp();
    this.#version = undefined;
  }
}
