import { readableProps } from "../domain/check-props.ts";
import type { ComponentDefinition, HookName } from "../domain/component.ts";
import type { DeployedComponent } from "../domain/deployed-component.ts";
import { PdError, messageOf } from "../domain/errors.ts";
import { invocationId } from "../domain/ids.ts";
import { type Method, type RunResult, type StateChanges, reasonOf } from "../domain/invocation.ts";
import { type JsonObject, parseJson } from "../domain/json.ts";
import { type AppHookProp, withDynamicProps } from "../domain/prop.ts";
import type { Origin, SavedComponent } from "../domain/saved-component.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { CarriedState } from "../ports/component-store.ts";
import type { CallReport, LatePart, Unit, UnitCode } from "../ports/runner.ts";
import { askUnit } from "./ask-unit.ts";
import { CallQueue } from "./call-queue.ts";
import { type CommittedRun, commitLate, commitRun } from "./commit-run.ts";
import { type Configuration, type Configuring, configure } from "./configure.ts";
import { answerDataStore } from "./data-stores.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import type { EnginePorts } from "./ports.ts";
import { SourceUnits, type UnitSettings } from "./source-units.ts";
import { type Owned, StateOwnership, applyChanges } from "./state-ownership.ts";
import { Usage } from "./usage.ts";

/** What a version of the source runs on. */
interface Version {
  readonly component: SavedComponent;
  unit: Unit | undefined;
  starting: Promise<Unit> | undefined;
}

/**
 * One deployed component as this host runs it. Cold: only the record. Warm: the stored state is owned (see
 * RunStore.open) and a unit is loaded. During an update two versions are warm: calls in flight finish on the old one
 * while new ones go to the new one, and each is told what the other writes.
 */
export class LiveSource {
  source: DeployedComponent;
  /** It was deleted, or never came to be. */
  isGone = false;
  readonly #ports: EnginePorts;
  readonly #units: SourceUnits;
  readonly #calls: CallQueue;
  #version: Version | undefined;
  readonly #ownership: StateOwnership;
  /** While anything goes on nothing is cooled down. */
  readonly #usage: Usage;
  /** What new calls run on, as a cold source remembers it. */
  #known: Known | undefined;

  #eventNames: { readonly source: DeployedComponent; readonly names: Promise<readonly string[]> } | undefined;
  #isStored: boolean;

  /** `isStored`: false while a source is being deployed and the store does not know it yet. */
  constructor(ports: EnginePorts, source: DeployedComponent, isStored: boolean) {
    this.#ports = ports;
    this.source = source;
    this.#isStored = isStored;
    this.#ownership = new StateOwnership(ports.store, source.id);
    this.#calls = new CallQueue(ports.settings);
    this.#units = new SourceUnits(ports.runner, {
      late: (part, unit) => void this.#commitLate(part, unit),
      ask: (request) => answerDataStore(ports, this.source.configured, request),
      ended: (unit) => this.#unitEnded(unit),
    });
    this.#usage = new Usage(ports.clock);
  }

  get endpoint(): string {
    return this.#ports.settings.endpointUrl(this.source.endpointKey);
  }

  get isWarm(): boolean {
    return !this.#units.isEmpty;
  }

  /** The code that new calls run on. */
  get component(): SavedComponent {
    return this.#version?.component ?? this.#readComponent();
  }

  /** With the props that its values have added. */
  get definition(): ComponentDefinition {
    return this.#know().definition;
  }

  /** Where its code came from, and what is loaded before it. */
  get provenance(): Provenance {
    return this.#know().provenance;
  }

  #know(): Known {
    const { source } = this;
    if (this.#known?.source !== source) {
      const provenance = this.#known?.source.componentId === source.componentId ? this.#known.provenance : provenanceOf(this.component);
      const { declared } = provenance;
      this.#known = { source, provenance, definition: { ...declared, props: withDynamicProps(declared.props, source.dynamicProps) } };
    }
    return this.#known;
  }

  /** Whatever is started for this work stays until it has ended. */
  keepWarm<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#usage.during(work);
  }

  /** Calls `run`. Rejects when the run could not be started or stored, and for a request or an event whose run was interrupted. */
  invoke(trigger: Trigger, options: InvokeOptions = {}): Promise<CommittedRun> {
    const call = (): Promise<CommittedRun> => this.#call({ kind: "run", trigger }, trigger, options);
    return this.keepWarm(() => this.#calls.run(call, options.isAlone === true));
  }

  /** Calls a hook of the current version; `undefined` when it has none. */
  async callHook(hook: HookName): Promise<CommittedRun | undefined> {
    if (!this.definition.hooks.includes(hook)) return undefined;
    return this.keepWarm(() => this.#call({ kind: "hook", hook }, { kind: "hook", hook }, {}));
  }

  /** Calls it for what it answers; nothing of it is stored. `given`: values that are not configured yet. */
  ask(method: Method, given: JsonObject = {}): Promise<RunResult> {
    return this.keepWarm(async () => {
      const { unit } = await this.#warm();
      const { configured, dynamicProps } = this.source;
      const values = readableProps(this.definition.props, { ...configured, ...given });
      return askUnit(this.#ports, unit, { method, configured: values, dynamicProps, endpoint: this.endpoint });
    });
  }

  /** Which events an app hook of it wants; a method that tells is asked once for each configuration. */
  async eventNames({ name, eventNames, namesByMethod }: AppHookProp): Promise<readonly string[] | undefined> {
    if (namesByMethod !== true) return eventNames;
    const { source } = this;
    if (this.#eventNames?.source !== source) this.#eventNames = { source, names: this.ask({ kind: "event-names", prop: name }).then(namesOf) };
    const { names } = this.#eventNames;
    names.catch(() => (this.#eventNames = undefined));
    return names;
  }

  /** What these values make of the definition of a unit, or of what serves. Throws PD_BAD_PROPS. */
  configureFor(unit: Unit | undefined, configuring: Omit<Configuring, "ask">): Promise<Configuration> {
    const method: Method = { kind: "additional-props" };
    const ask = async (values: Configuration): Promise<RunResult> =>
      askUnit(this.#ports, unit ?? (await this.#warm()).unit, { method, ...values, endpoint: this.endpoint });
    return configure({ ...configuring, ask });
  }

  /** Starts a unit with other code beside the current one; it gets every change of the state from now on. */
  async startUnit({ bundle, packagesFolder, env }: UnitSettings): Promise<Unit> {
    const state = this.#isStored ? { ...(await this.#ownership.take()).state } : {};
    return this.#units.start(this.#unitCode({ bundle, packagesFolder, env, state }));
  }

  /** The record is in the store from now on, with this state: units that were started before learn of it. */
  markStored(state: StateChanges): void {
    this.#isStored = true;
    this.#units.tell(state, undefined);
  }

  /** New calls go to this version from now on. Returns what undoes it. */
  switchTo(source: DeployedComponent, component: SavedComponent, unit: Unit | undefined): { undo(): void; retireOld(): void } {
    const before = { source: this.source, version: this.#version };
    this.source = source;
    this.#version = { component, unit: unit ?? before.version?.unit, starting: undefined };
    const isSameUnit = unit === undefined || unit === before.version?.unit;
    return {
      undo: () => {
        this.source = before.source;
        this.#version = before.version;
        if (!isSameUnit) void unit.retire();
      },
      retireOld: () => {
        if (isSameUnit) return;
        void before.version?.unit?.retire();
        before.version?.starting?.then(
          (late) => void late.retire(),
          () => {},
        );
      },
    };
  }

  /** Gets the next version ready before there is one: the same packages, loaded. */
  prepareNext(): void {
    const { bundle, packagesFolder } = this.component;
    this.#ports.runner.prepare(this.#unitCode({ bundle, packagesFolder, env: {}, state: {} }));
  }

  /** Writes to the state from outside; a warm unit sees it at once. */
  async writeState(changes: StateChanges): Promise<void> {
    const owned = await this.#ownership.current;
    // In memory first: a run that writes the same key after this is also stored after it.
    if (owned !== undefined) this.#spread(owned, changes, undefined);
    const write = (): Promise<void> => this.#ports.store.writeState(this.source.id, changes);
    await (owned === undefined ? write() : this.#commit(owned, write));
  }

  /** From now on its units work on this state; it is stored by `storeCarried`. */
  async carry({ state, cache }: CarriedState): Promise<void> {
    const owned = await this.#ownership.take();
    const cleared = Object.fromEntries(Object.keys(owned.state).map((key) => [key, null]));
    this.#spread(owned, { ...cleared, ...state }, undefined);
    owned.cache = cache;
  }

  /** Stores the state as it is by now, in one go with the rest of a change. */
  async storeCarried(write: (now: CarriedState) => Promise<void>): Promise<void> {
    const { state, cache } = await this.#ownership.take();
    await write({ state: { ...state }, cache });
  }

  /** Back to what is stored: the next call begins from there. */
  forgetCarried(): void {
    this.#disown("an update was undone");
  }

  /** Ends the process of a source that had nothing to do for a while. */
  coolDown(idleMs: number): void {
    if (this.#usage.isIdle && this.#usage.idleMs >= idleMs) void this.#units.retire();
  }

  kill(reason: string): void {
    this.#units.kill(reason);
  }

  /** What runs may finish, what waits is refused. Resolves when the units are gone and what they did is committed. */
  async stop(): Promise<void> {
    this.#calls.close(new PdError("PD_STOPPING", `Cannot run ${this.source.slug}: the server is stopping`));
    await this.#usage.untilIdle();
    await this.#units.retire();
  }

  async #call(method: Method, trigger: Trigger, options: InvokeOptions): Promise<CommittedRun> {
    const { clock, feed, settings } = this.#ports;
    const { version, unit, owned } = await this.#warm();
    const { source } = this;
    const id = options.id ?? invocationId(clock.now(), clock.randomText(8));
    const startedAt = clock.now();
    const replay = options.replayOf === undefined ? {} : { replayOf: options.replayOf };
    feed.observe(source.id, { kind: "started", id, at: startedAt, trigger, ...replay });
    const report: CallReport = {
      log: (line) => feed.observe(source.id, { kind: "line", id, line }),
      respond: (response) => options.onResponse?.(response),
    };
    const { configured, dynamicProps } = source;
    const request = { id, method, configured, dynamicProps, endpoint: this.endpoint, deadlineMs: settings.deadlineMs };
    const result = await unit.call(request, report);
    if (result.outcome.kind === "interrupted" && (trigger.kind === "http" || trigger.kind === "event")) {
      throw new PdError("PD_INTERRUPTED", `A run of ${source.slug} was interrupted: ${result.outcome.reason}`);
    }
    options.onEnded?.();
    this.#spread(owned, result.stateChanges, unit);
    const status = options.responseStatus?.();
    const invocation = {
      id,
      sourceId: source.id,
      trigger,
      startedAt,
      ...replay,
      ...(status === undefined ? {} : { responseStatus: status }),
    };
    return this.#commit(owned, () => commitRun(this.#ports, { owner: owned, strategy: version.component.definition.dedupe, invocation, result }));
  }

  /** When a commit fails, the memory of this host is ahead of the disk: it is given up, so that the next call starts from the disk. */
  async #commit<Value>(owned: Owned, commit: () => Promise<Value>): Promise<Value> {
    try {
      return await commit();
    } catch (error) {
      const current = await this.#ownership.current?.catch(() => undefined);
      if (current === owned) this.#disown(messageOf(error));
      throw error;
    }
  }

  #disown(reason: string): void {
    this.#ownership.giveUp();
    if (this.#version !== undefined) this.#version.unit = undefined;
    this.#units.kill(`its run could not be stored: ${reason}`);
  }

  #current(): Version {
    if (this.#version !== undefined) return this.#version;
    this.#version = { component: this.#readComponent(), unit: undefined, starting: undefined };
    return this.#version;
  }

  #readComponent(): SavedComponent {
    const { componentId, slug } = this.source;
    const component = this.#ports.store.getComponent(componentId);
    if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot run ${slug}: its code ${componentId} is gone`);
    return component;
  }

  /** A unit of the current version that takes calls. It may be retired while this waits, so it is looked at last. */
  async #warm(): Promise<{ version: Version; unit: Unit; owned: Owned }> {
    for (;;) {
      const owned = await this.#ownership.take();
      const version = this.#current();
      if (version.unit?.isUsable === true) return { version, unit: version.unit, owned };
      const { bundle, packagesFolder } = version.component;
      version.starting ??= this.startUnit({ bundle, packagesFolder, env: this.source.env }).finally(() => (version.starting = undefined));
      version.unit = await version.starting;
    }
  }

  /** Every unit but the one that wrote it learns of a change. */
  #spread(owned: Owned, changes: StateChanges, writer: Unit | undefined): void {
    applyChanges(owned, changes);
    this.#units.tell(changes, writer);
  }

  #unitEnded(unit: Unit | undefined): void {
    if (this.#version !== undefined && this.#version.unit === unit) this.#version.unit = undefined;
    if (this.#units.isEmpty && this.#usage.isIdle) this.#goCold();
  }

  async #commitLate(part: LatePart, unit: Unit | undefined): Promise<void> {
    try {
      const owned = await this.#ownership.take();
      this.#spread(owned, part.result.stateChanges, unit);
      await this.#commit(owned, () => commitLate(this.#ports, owned, { strategy: this.definition.dedupe, part }));
    } catch (error) {
      this.#ports.log.warn("what a component did after its run could not be stored", { source: this.source.slug, reason: messageOf(error) });
    }
  }

  /** An idle source keeps its record alone in memory. */
  #goCold(): void {
    this.#ownership.giveUp();
    this.#version = undefined;
  }

  #unitCode({ bundle, packagesFolder, env, state }: UnitSettings & { readonly state: Record<string, string> }): UnitCode {
    const packagesPath = packagesFolder === undefined ? undefined : this.#ports.packages.locate(packagesFolder);
    return { bundle, env: { ...env, PD_COMPONENT: this.source.id }, state, ...(packagesPath === undefined ? {} : { packagesPath }) };
  }
}

interface Known {
  readonly source: DeployedComponent;
  readonly provenance: Provenance;
  readonly definition: ComponentDefinition;
}

/** What is worth remembering of the code of a source that is cold. */
export interface Provenance {
  readonly declared: ComponentDefinition;
  readonly origin: Origin;
  /** Paths of modules that are loaded before it. */
  readonly imports: readonly string[];
}

function provenanceOf({ definition, origin, code }: SavedComponent): Provenance {
  return { declared: definition, origin, imports: (code.imports ?? []).map(({ path }) => path) };
}

/** Throws PD_OPTIONS_FAILED when the method failed. */
function namesOf({ outcome, returned }: RunResult): readonly string[] {
  if (outcome.kind !== "returned") throw new PdError("PD_OPTIONS_FAILED", `Cannot tell which events are wanted: ${reasonOf(outcome)}`);
  const names = parseJson(returned ?? "[]");
  return Array.isArray(names) ? names.map(String) : [];
}
