import type { DedupeStrategy } from "../../../domain/event/dedupe.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { RunResult, StateChanges } from "../../../domain/run/invocation.ts";
import type { Trigger } from "../../../domain/run/trigger.ts";
import type { CarriedState } from "../../../ports/stores/component-store.ts";
import type { LatePart, Unit } from "../../../ports/runner.ts";
import { type CommitPorts, commitLate } from "../commits/commit-run.ts";
import { stateTooLarge, withoutLost } from "./state-limits.ts";
import type { RunPorts } from "./run-ports.ts";
import type { SourceUnits } from "./source-units.ts";
import { Owned, StateOwnership } from "./state-ownership.ts";

type StatePorts = Pick<RunPorts, keyof CommitPorts | "log" | "store">;

interface Setup {
  readonly sourceId: DeployedId;
  readonly units: SourceUnits;
  /** Called when the state has been dropped. Units that work on it must not be used any more. */
  readonly onDisowned: () => void;
}

/** State of a source while this host owns it: one copy here and one in each unit. */
export class LiveState {
  readonly #ports: StatePorts;
  readonly #sourceId: DeployedId;
  readonly #units: SourceUnits;
  readonly #ownership: StateOwnership;
  readonly #onDisowned: () => void;
  /** Units that work on dropped state. Their late reports depend on values that are not stored. */
  readonly #disowned = new WeakSet<Unit>();

  constructor(ports: StatePorts, { sourceId, units, onDisowned }: Setup) {
    this.#ports = ports;
    this.#sourceId = sourceId;
    this.#units = units;
    this.#ownership = new StateOwnership(ports.store, sourceId);
    this.#onDisowned = onDisowned;
  }

  take(): Promise<Owned> {
    return this.#ownership.take();
  }

  get owned(): Owned | undefined {
    return this.#ownership.taken;
  }

  /** Drops the state. Call only when no unit runs. */
  giveUp(): void {
    this.#ownership.giveUp();
  }

  /** Sends changes to every unit except `writer`. Skips units that started after `owned` was dropped. */
  spread(owned: Owned, changes: StateChanges, writer: Unit | undefined): void {
    owned.apply(changes, writer);
    if (this.owned === owned) this.#units.tell(changes, owned.epoch, writer);
  }

  /** Returns why a result does not count: the state it is based on was dropped during the call. Undefined when it counts. */
  lost(owned: Owned): string | undefined {
    return this.owned === owned ? undefined : "an earlier run could not be stored";
  }

  forget(unit: Unit): void {
    void this.#ownership.current?.then((owned) => owned.forget(unit)).catch(() => {});
  }

  /**
   * Returns why a result conflicts with what others stored during the call, or undefined. During an update two versions run at once, and a value must never be
   * replaced by one that is based on an older value. Hooks never conflict: what they agreed with a third party stays in force.
   */
  clash({ owned, unit }: { owned: Owned; unit: Unit }, { touched, stateChanges }: RunResult, { kind }: Trigger): string | undefined {
    const keys = kind === "hook" || touched === undefined ? [] : owned.clashesOf(touched, unit);
    if (keys.length === 0) return undefined;
    this.revert(owned, Object.keys(stateChanges));
    return `another run changed ${keys.map((key) => JSON.stringify(key)).join(", ")} while this one was using it`;
  }

  /**
   * Puts what is stored back into all units, because the memory of one has what a discarded call wrote. This counts as a
   * change by others, so calls in flight that used the discarded values are discarded too.
   */
  revert(owned: Owned, keys: readonly string[]): void {
    this.spread(owned, owned.textsOf(keys), undefined);
  }

  /** A failed commit leaves the memory ahead of the store, so the state is dropped and read again by the next call. */
  commit<Value>(owned: Owned, committed: Promise<Value>): Promise<Value> {
    return committed.catch(async (error: unknown) => {
      const current = await this.#ownership.current?.catch(() => undefined);
      if (current === owned) this.disown(`its run could not be stored: ${messageOf(error)}`);
      throw error;
    });
  }

  disown(reason: string): void {
    this.#ports.log.warn("the state of a source was not stored: it is read again from the store", { source: this.#sourceId, reason });
    this.#ownership.giveUp();
    this.#onDisowned();
    for (const unit of this.#units.kill(reason)) this.#disowned.add(unit);
  }

  /** A warm unit sees the change at once. Throws PD_BODY_TOO_LARGE, PD_NOT_STORED. */
  async write(slug: string, changes: StateChanges): Promise<void> {
    const { store } = this.#ports;
    const stored = this.owned === undefined ? await store.readState(this.#sourceId) : {};
    // An ownership that opened between this check and the write would miss the change.
    while (this.owned === undefined && this.#ownership.current !== undefined) await this.#ownership.current.catch(() => {});
    const { owned } = this;
    const known = owned ?? new Owned(this.#sourceId, { state: stored, cache: {}, fence: 0 });
    if (!known.hasRoomFor(changes)) throw stateTooLarge(slug);
    // Memory first: a run that writes the same key later is then also stored later.
    if (owned !== undefined) this.spread(owned, changes, undefined);
    const write = (): Promise<void> => store.writeState(this.#sourceId, changes, owned?.fence);
    await (owned === undefined ? write() : this.commit(owned, write()));
  }

  /** Replaces the state that the units work on. `storeCarried` stores it. */
  async carry({ state, cache }: CarriedState): Promise<void> {
    const owned = await this.take();
    const cleared = Object.fromEntries(Object.keys(owned.state).map((key) => [key, null]));
    this.spread(owned, { ...cleared, ...state }, undefined);
    owned.cache = cache;
  }

  async storeCarried(write: (now: CarriedState) => Promise<void>): Promise<void> {
    const { state, cache } = await this.take();
    await write({ state, cache });
  }

  /**
   * Commits what a call did after it had ended. Its log lists values that cannot be stored. Throws PD_NOT_STORED when the call was based on values that are not
   * stored.
   */
  async commitLate(part: LatePart, unit: Unit | undefined, strategy: DedupeStrategy | undefined): Promise<void> {
    const owned = await this.take();
    if (unit !== undefined && this.#disowned.has(unit))
      throw new PdError("PD_NOT_STORED", "Cannot store what a run did after its end: it used values of an earlier run that could not be stored");
    const isTooLarge = !owned.hasRoomFor(part.result.stateChanges);
    const lost = isTooLarge ? Object.keys(part.result.stateChanges) : owned.clashesOf(part.result.touched ?? {}, unit);
    const kept = withoutLost(part, lost, { at: this.#ports.clock.now(), why: isTooLarge ? "the state is too large" : "another run changed them" });
    this.spread(owned, kept.result.stateChanges, unit);
    if (lost.length > 0)
      this.revert(
        owned,
        lost.filter((key) => key in part.result.stateChanges),
      );
    await this.commit(owned, commitLate(this.#ports, owned, { strategy, part: kept }));
  }
}
