import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { PdError } from "../../../domain/errors.ts";
import type { DataStoreRequest } from "../../../domain/source/data-store.ts";
import type { StateChanges } from "../../../domain/run/invocation.ts";
import type { JsonValue } from "../../../domain/text/json.ts";
import type { Bundle } from "../../../domain/component/saved-component.ts";
import type { ProcessBudget } from "./process-budget.ts";
import type { PackageResolver } from "../../../ports/package-resolver.ts";
import type { LatePart, Runner, Unit, UnitCode, UnitEvents } from "../../../ports/runner.ts";

export interface UnitSettings {
  readonly bundle: Bundle;
  readonly packagesFolder: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly allowsPrograms?: true;
}

export function rightsOf({ env, settings }: Pick<DeployedComponent, "env" | "settings">): Pick<UnitSettings, "env" | "allowsPrograms"> {
  return { env, ...(settings.allow_run === true ? { allowsPrograms: true } : {}) };
}

export function unitCode(
  packages: Pick<PackageResolver, "locate">,
  { id }: DeployedComponent,
  { bundle, packagesFolder, env, allowsPrograms }: UnitSettings,
): UnitCode {
  return {
    bundle,
    env: { ...env, PD_COMPONENT: id },
    state: {},
    ...(allowsPrograms === true ? { allowsPrograms } : {}),
    ...(packagesFolder === undefined ? {} : { packagesPath: packages.locate(packagesFolder) }),
  };
}

export interface SourceUnitEvents {
  /** `unit` is undefined while it is still loading. */
  late(part: LatePart, unit: Unit | undefined): void;
  ask(request: DataStoreRequest): Promise<JsonValue | undefined>;
  ended(unit: Unit | undefined): void;
}

/** `missed` has the changes that others wrote since this unit's copy of the state was made. */
interface StartingUnit {
  unit: Unit | undefined;
  hasEnded: boolean;
  hasPlace: boolean;
  /** Set when the unit must be killed as soon as it is loaded. The value is the reason. */
  doomed: string | undefined;
  readonly over: AbortController;
  readonly missed: { readonly changes: StateChanges; readonly epoch: number }[];
}

/** The units of one source. Each receives the changes that others write, even while it is still loading. */
export class SourceUnits {
  readonly #runner: Runner;
  readonly #processes: Pick<ProcessBudget, "enter" | "leave">;
  readonly #events: SourceUnitEvents;
  readonly #units = new Set<Unit>();
  readonly #starting = new Set<StartingUnit>();

  constructor(runner: Runner, processes: Pick<ProcessBudget, "enter" | "leave">, events: SourceUnitEvents) {
    this.#runner = runner;
    this.#processes = processes;
    this.#events = events;
  }

  get isEmpty(): boolean {
    return this.#units.size + this.#starting.size === 0;
  }

  /** The state in `code` must be current: the unit receives only changes made after this call. When `stop` aborts during the start, this throws PD_STOPPING. */
  async start(code: UnitCode, stop?: AbortSignal): Promise<Unit> {
    const isFirst = this.isEmpty;
    const self: StartingUnit = { unit: undefined, hasEnded: false, hasPlace: false, doomed: undefined, over: new AbortController(), missed: [] };
    this.#starting.add(self);
    const cutOff = (): void => self.over.abort(new PdError("PD_STOPPING", "Cannot load the component: the server is stopping"));
    stop?.addEventListener("abort", cutOff);
    if (stop?.aborted === true) cutOff();
    try {
      // Built-in components have no process.
      const needsPlace = code.bundle.isBuiltIn !== true;
      const wait = needsPlace ? this.#processes.enter(!isFirst) : undefined;
      if (wait !== undefined) await wait;
      self.hasPlace = needsPlace;
      const events: UnitEvents = {
        late: (part) => this.#events.late(part, self.unit),
        ask: (request) => this.#events.ask(request),
        ended: () => this.#ended(self),
      };
      const unit = await this.#runner.start(code, events, self.over.signal);
      self.unit = unit;
      for (const { changes, epoch } of self.missed) unit.patchState(changes, epoch);
      if (!self.hasEnded) this.#units.add(unit);
      if (self.doomed !== undefined) unit.kill(self.doomed);
      return unit;
    } finally {
      stop?.removeEventListener("abort", cutOff);
      this.#starting.delete(self);
      if (self.unit === undefined) this.#leave(self);
      if (self.unit === undefined) this.#events.ended(undefined);
    }
  }

  tell(changes: StateChanges, epoch: number, writer: Unit | undefined): void {
    if (Object.keys(changes).length === 0) return;
    for (const unit of this.#units) if (unit !== writer) unit.patchState(changes, epoch);
    for (const { missed } of this.#starting) missed.push({ changes, epoch });
  }

  /** Kills all units and rejects callers that wait for one. */
  end(reason: string): void {
    this.kill(reason);
    for (const { over } of this.#starting) over.abort(reason);
  }

  /** Units that are still loading are killed once loaded, and their callers start another. Returns the loaded units, which may still report their work. */
  kill(reason: string): readonly Unit[] {
    for (const self of this.#starting) self.doomed = reason;
    const killed = [...this.#units];
    for (const unit of killed) unit.kill(reason);
    return killed;
  }

  async retire(): Promise<void> {
    await Promise.all([...this.#units].map((unit) => unit.retire()));
  }

  #leave(self: StartingUnit): void {
    if (self.hasPlace) this.#processes.leave();
    self.hasPlace = false;
  }

  #ended(self: StartingUnit): void {
    this.#leave(self);
    self.hasEnded = true;
    if (self.unit !== undefined) this.#units.delete(self.unit);
    this.#events.ended(self.unit);
  }
}
