import type { ComponentDefinition, HookName } from "../../../domain/component/component.ts";
import type { DeployedComponent, SourceOutline } from "../../../domain/source/deployed-component.ts";
import { type Provenance, StoredSource } from "../../../domain/source/stored-source.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { invocationId } from "../../../domain/ids.ts";
import type { Method, StateChanges } from "../../../domain/run/invocation.ts";
import { isDeath, reasonToRunAgain } from "../../../domain/run/run-again.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { Trigger } from "../../../domain/run/trigger.ts";
import type { DebugLink } from "../../../ports/debugger.ts";
import type { LatePart, Unit } from "../../../ports/runner.ts";
import type { CallQueue } from "./call-queue.ts";
import { type CommittedRun, commitRun } from "../commits/commit-run.ts";
import { type Access, accessWithoutAccounts, refusedRun } from "../../accounts/credentials.ts";
import { type InvokeOptions, callReport } from "./invoke-options.ts";
import { withoutState } from "./state-limits.ts";
import type { LiveState } from "./live-state.ts";
import { NO_LOAD, RunningSource, type UpdateHold } from "./running-source.ts";
import { type Ready, Version, type Warm } from "./version.ts";
import { ONE_TRY, type Tried, type Try, untilItCounts } from "./run-tries.ts";
import type { SourceQuestions } from "../questions/source-questions.ts";
import type { RunPorts } from "./run-ports.ts";
import { type UnitSettings, rightsOf, unitCode } from "./source-units.ts";
import type { Usage } from "./usage.ts";

/**
 * What of a source is in memory beside its record.
 * - `cold`: nothing. A call reads the code and makes it `warm`.
 * - `warm`: its code, its state (see RunStore.open) and, as a rule, a process. Without a process and a call in flight it becomes `cold`.
 * - `switching`: a deploy or update has sent new calls to `version`, and calls of the version before may still run. Each receives the state changes of the other.
 *   `retireOld` makes it `warm`, `undo` what it was before.
 * - `gone`: the source was deleted, or its first deployment failed.
 */
type Life =
  | { readonly kind: "cold" }
  | { readonly kind: "warm"; readonly version: Version }
  | { readonly kind: "switching"; readonly version: Version }
  | { readonly kind: "gone" };

/** One deployed component on this host. */
export class LiveSource {
  /** False while the source is being deployed: it can be called but does not appear in lists. */
  isShown: boolean;
  debug: DebugLink | undefined;
  isCooling = false;
  /** Includes versions that were rolled back, because calls may have run on them. */
  highestVersion: number;
  readonly #ports: RunPorts;
  #record: StoredSource;
  #life: Life = { kind: "cold" };
  /** Created on first use: a server may have thousands of sources that are never called. */
  #running: RunningSource | undefined;
  /** What calls of this record may use, when that does not depend on accounts. */
  #access: Access | undefined;
  #isStored: boolean;
  #isStopping = false;
  #killed: AbortController | undefined;
  #whyKilled: string | undefined;

  constructor(ports: RunPorts, record: StoredSource, isStored = true) {
    this.#ports = ports;
    this.#record = record;
    this.highestVersion = record.outline.highestVersion;
    this.#isStored = isStored;
    this.isShown = isStored;
  }

  /** A source that is being deployed. `markStored` and `switchTo` complete it. */
  static draft(ports: RunPorts, source: DeployedComponent): LiveSource {
    return new LiveSource(ports, StoredSource.draft(source), false);
  }

  get #parts(): RunningSource {
    if (this.#running !== undefined) return this.#running;
    this.#running = new RunningSource(this.#ports, {
      of: this,
      late: (part, unit) => void this.#commitLate(part, unit),
      ended: (unit) => this.#unitEnded(unit),
      onDisowned: () => this.#version?.dropUnit(),
    });
    if (this.#isStopping) this.#parts.refuse(this.outline.slug);
    return this.#running;
  }

  get #version(): Version | undefined {
    return this.#life.kind === "warm" || this.#life.kind === "switching" ? this.#life.version : undefined;
  }

  get isGone(): boolean {
    return this.#life.kind === "gone";
  }

  /** Call when the source has been deleted, or when its first deployment failed. */
  markGone(): void {
    this.#life = { kind: "gone" };
  }

  get killed(): AbortSignal {
    this.#killed ??= new AbortController();
    if (this.#whyKilled !== undefined) this.#killed.abort(this.#whyKilled);
    return this.#killed.signal;
  }

  get endpoint(): string {
    return this.#ports.settings.endpointUrl(this.outline.endpointKey);
  }

  get hasProcess(): boolean {
    return this.#running?.units.isEmpty === false;
  }

  async readComponent(): Promise<SavedComponent> {
    return (await this.#current()).component;
  }

  get outline(): SourceOutline {
    return this.#record.outline;
  }

  get source(): DeployedComponent {
    return this.#record.source;
  }

  /** Includes the dynamic props. */
  get definition(): ComponentDefinition {
    return this.#record.definition;
  }

  get provenance(): Provenance {
    return this.#record.provenance;
  }

  /** Keeps the processes from being cooled down until `work` has ended. */
  async keepWarm<Value>(work: () => Promise<Value>): Promise<Value> {
    const { usage } = this.#parts;
    usage.begin();
    try {
      return await work();
    } finally {
      this.#endUse(usage);
    }
  }

  #endUse(usage: Usage): void {
    usage.end();
    if (!usage.isIdle) return;
    this.#ports.processes.offer();
    // A process that ended during the call, or could not start, has left this to the call's end.
    if (this.#parts.units.isEmpty) this.#goCold(this.#parts.state);
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
    const { calls, usage } = this.#parts;
    usage.begin();
    try {
      const attempt = (given: Try, isAlone: boolean): Promise<Tried> => calls.run(() => this.#call({ kind: "run", trigger }, trigger, given), isAlone);
      const first = await attempt({ options, tries: ONE_TRY.tries, notes: ONE_TRY.notes }, false);
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
    return this.#parts.questions;
  }

  /** The new unit receives every later state change. */
  async startUnit(settings: UnitSettings, stop?: AbortSignal): Promise<Unit> {
    const { units, state: live } = this.#parts;
    const { state, epoch } = this.#isStored ? await live.take() : { state: {}, epoch: 0 };
    const debug = this.debug === undefined ? {} : { debug: this.debug };
    return units.start({ ...unitCode(this.#ports.packages, this.source, settings), ...debug, state, epoch }, stop);
  }

  /** Call when the record has been stored with `state`. Units that started earlier receive that state. */
  markStored(state: StateChanges): void {
    this.#isStored = true;
    this.#parts.units.tell(state, 0, undefined);
  }

  holdCalls(): UpdateHold {
    return this.#parts.holdCalls();
  }

  /** Sends new calls to this version. Without `unit`, or with that of the current version, the code and its process stay. */
  switchTo(source: DeployedComponent, component: SavedComponent, unit: Unit | undefined): { undo(): void; retireOld(): void } {
    const [recordBefore, lifeBefore, before] = [this.#record, this.#life, this.#version];
    const isSameUnit = unit === undefined || unit === before?.unit;
    const version = isSameUnit && before !== undefined ? before : new Version(component, unit);
    this.#use(StoredSource.of(source, component));
    this.#life = { kind: "switching", version };
    this.highestVersion = Math.max(this.highestVersion, source.version);
    // Calls on the new code must not wait for a run that hangs on the old code.
    if (!isSameUnit) this.#running?.calls.startOver();
    return {
      undo: () => {
        this.#use(recordBefore);
        this.#life = lifeBefore;
        if (isSameUnit) return;
        this.#running?.calls.startOver();
        void unit.retire();
      },
      retireOld: () => {
        if (!this.isGone) this.#life = { kind: "warm", version };
        if (before !== version) before?.retire();
      },
    };
  }

  #use(record: StoredSource): void {
    this.#record = record;
    this.#access = undefined;
  }

  /** Loads the same packages in a spare process, so that the next version starts faster. */
  prepareNext({ bundle, packagesFolder }: Pick<SavedComponent, "bundle" | "packagesFolder">): void {
    if (this.source.settings.allow_run !== true) this.#ports.runner.prepare(unitCode(this.#ports.packages, this.source, { bundle, packagesFolder, env: {} }));
  }

  get state(): LiveState {
    return this.#parts.state;
  }

  writeState(changes: StateChanges): Promise<void> {
    return this.#parts.state.write(this.source.slug, changes);
  }

  coolDown(idleMs: number): void {
    if (this.idleMs === undefined || this.idleMs < idleMs) return;
    this.isCooling = true;
    void this.#parts.units.retire().finally(() => (this.isCooling = false));
  }

  /** Undefined without a process and while it works. */
  get idleMs(): number | undefined {
    return this.#running?.idleMs;
  }

  get load(): CallQueue["load"] {
    return this.#running?.calls.load ?? NO_LOAD;
  }

  async memoryBytes(): Promise<number | undefined> {
    return this.#version?.unit?.memoryBytes();
  }

  kill(reason: string): void {
    this.#whyKilled ??= reason;
    this.#killed?.abort(reason);
    this.#running?.units.end(reason);
  }

  /** Lets running calls finish and rejects waiting ones. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#running?.refuse(this.outline.slug);
    await this.#running?.untilGone();
  }

  /** Everything a call needs, when it is available without waiting. */
  get #readyNow(): Ready | undefined {
    const version = this.#version;
    const unit = version?.unit;
    const { owned } = this.#parts.state;
    if (version === undefined || unit === undefined || owned === undefined) return undefined;
    const { source } = this;
    this.#access ??= accessWithoutAccounts(this.definition.props, source.configured);
    return this.#access === undefined ? undefined : { source, access: this.#access, warm: { version, unit, owned } };
  }

  /** Repeats when the source changes while its accounts are fetched. Takes the unit last, because a unit may retire in between. */
  async #ready(): Promise<Ready> {
    for (;;) {
      const { source } = this;
      const access = await this.#ports.credentials.accessOrRefusal(this.definition.props, source.configured);
      const warm = await this.#warm();
      if (this.source === source) return { source, access, warm };
    }
  }

  async #call(method: Method, trigger: Trigger, { options, tries, notes }: Try): Promise<Tried> {
    const { clock, feed, settings } = this.#ports;
    const { source, access, warm } = this.#readyNow ?? (await this.#ready());
    const { version, unit, owned } = warm;
    const id = options.id ?? invocationId(clock.now(), clock.randomText(8));
    const startedAt = clock.now();
    const { replayOf } = options;
    feed.observe(source.id, { kind: "started", id, at: startedAt, trigger, replayOf });
    const report = callReport(feed, { source, id, options });
    const triggerText = method.kind === "run" ? JSON.stringify(trigger) : undefined;
    const { dynamicProps } = source;
    const { deadlineMs } = settings;
    const told =
      access instanceof PdError
        ? refusedRun(access)
        : await unit.call(
            {
              id,
              method,
              triggerText,
              configured: access.configured,
              dynamicProps,
              secrets: access.secrets,
              dataStores: access.dataStores,
              endpoint: this.endpoint,
              deadlineMs,
            },
            report,
          );
    const { state } = this.#parts;
    const reason = state.lost(owned) ?? state.clash(warm, told, trigger) ?? reasonToRunAgain(told, trigger, tries);
    if (reason !== undefined) return { reason, wasDeath: isDeath(told) };
    const hasRoom = owned.hasRoomFor(told.stateChanges);
    if (!hasRoom) state.revert(owned, Object.keys(told.stateChanges));
    const fitting = hasRoom ? told : withoutState(told, source.slug);
    const result = notes.length === 0 ? fitting : { ...fitting, logs: [...notes, ...fitting.logs] };
    options.onEnded?.();
    state.spread(owned, result.stateChanges, unit);
    const responseStatus = options.responseStatus?.(result.outcome);
    const invocation = { id, sourceId: source.id, version: source.version, trigger, startedAt, replayOf, responseStatus };
    const strategy = version.component.definition.dedupe;
    const run = commitRun(this.#ports, { owner: owned, strategy, invocation, result, triggerText });
    return { run: await state.commit(owned, run) };
  }

  async #current(): Promise<Version> {
    for (;;) {
      const version = this.#version;
      if (version !== undefined) return version;
      const { source } = this;
      if (this.isGone) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${source.slug}: it was deleted`);
      const component = await this.#ports.store.getComponent(source.componentId);
      // While the code was read, the source switched versions, was deleted, or another call made it warm.
      if (this.source !== source || this.#life.kind !== "cold") continue;
      if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run ${source.slug}: its code ${source.componentId} is gone`);
      this.#life = { kind: "warm", version: new Version(component) };
    }
  }

  /** Checks the unit last, because it may retire while this waits. */
  async #warm(): Promise<Warm> {
    for (;;) {
      const version = await this.#current();
      const owned = await this.#parts.state.take();
      if (version !== this.#version) continue;
      const { unit } = version;
      if (unit !== undefined) return { version, unit, owned };
      const { bundle, packagesFolder } = version.component;
      await version.serve(() => this.startUnit({ bundle, packagesFolder, ...rightsOf(this.source) }));
    }
  }

  #unitEnded(unit: Unit | undefined): void {
    const { state, units, usage } = this.#parts;
    if (unit !== undefined) {
      state.forget(unit);
      this.#version?.dropUnit(unit);
    }
    if (units.isEmpty && usage.isIdle) this.#goCold(state);
  }

  async #commitLate(part: LatePart, unit: Unit | undefined): Promise<void> {
    try {
      await this.#parts.state.commitLate(part, unit, this.definition.dedupe);
    } catch (error) {
      this.#ports.log.warn("effects of a component after its run could not be stored", { source: this.source.slug, reason: messageOf(error) });
    }
  }

  #goCold(state: LiveState): void {
    state.giveUp();
    if (!this.isGone) this.#life = { kind: "cold" };
  }
}
