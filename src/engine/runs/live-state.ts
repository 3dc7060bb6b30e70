import type { DedupeStrategy } from "../../domain/dedupe.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { RunResult, StateChanges } from "../../domain/invocation.ts";
import type { Trigger } from "../../domain/trigger.ts";
import type { CarriedState } from "../../ports/component-store.ts";
import type { LatePart, Unit } from "../../ports/runner.ts";
import { type CommitPorts, commitLate } from "./commit-run.ts";
import { stateTooLarge, withoutLost } from "./kept-state.ts";
import type { RunPorts } from "./run-ports.ts";
import type { SourceUnits } from "./source-units.ts";
import { type Owned, StateOwnership } from "./state-ownership.ts";

type StatePorts = Pick<RunPorts, keyof CommitPorts | "log">;

interface Setup {
  readonly sourceId: DeployedId;
  readonly units: SourceUnits;
  /** The memory of this host was ahead of the disk, and is given up: what runs on it is not used any more. */
  readonly onDisowned: () => void;
}

/** What a source remembers, as long as this host owns it: one copy here, one in each of its units. */
export class LiveState {
  readonly #ports: StatePorts;
  readonly #sourceId: DeployedId;
  readonly #units: SourceUnits;
  readonly #ownership: StateOwnership;
  readonly #onDisowned: () => void;
  /** Units that work on memory which was given up: what they still tell is built on what is not stored. */
  readonly #disowned = new WeakSet<Unit>();

  constructor(ports: StatePorts, { sourceId, units, onDisowned }: Setup) {
    this.#ports = ports;
    this.#sourceId = sourceId;
    this.#units = units;
    this.#ownership = new StateOwnership(ports.store, sourceId);
    this.#onDisowned = onDisowned;
  }

  /** Takes it over when it is not owned yet. */
  take(): Promise<Owned> {
    return this.#ownership.take();
  }

  /** Once it was taken over. */
  get owned(): Owned | undefined {
    return this.#ownership.taken;
  }

  /** Nothing runs on it any more: the next call begins from what is stored. */
  giveUp(): void {
    this.#ownership.giveUp();
  }

  /** Every unit but the one that wrote it learns of a change. Those that began after `owned` was given up have nothing of it. */
  spread(owned: Owned, changes: StateChanges, writer: Unit | undefined): void {
    owned.apply(changes, writer);
    if (this.owned === owned) this.#units.tell(changes, owned.epoch, writer);
  }

  /** Why a result does not count: what it was made of was given up while the call went on. Its unit is killed, and may still tell of it. */
  lost(owned: Owned): string | undefined {
    return this.owned === owned ? undefined : "while it ran, a run before it could not be stored";
  }

  /** A unit that is gone. */
  forget(unit: Unit): void {
    void this.#ownership.current?.then((owned) => owned.forget(unit)).catch(() => {});
  }

  /**
   * Why a result does not fit what others have stored meanwhile, though the call had read or written it: two versions run
   * side by side during an update, and what is stored must never go back. The unit is put back to what is stored. What a
   * hook has agreed with a third party holds whatever ran beside it.
   */
  clash({ owned, unit }: { owned: Owned; unit: Unit }, { touched, stateChanges }: RunResult, { kind }: Trigger): string | undefined {
    const keys = kind === "hook" || touched === undefined ? [] : owned.clashesOf(touched, unit);
    if (keys.length === 0) return undefined;
    // The unit works on what it has made of them itself.
    unit.restoreState(owned.storedOf(Object.keys(stateChanges), unit));
    return `while it ran, others wrote what it had read or written: ${keys.map((key) => JSON.stringify(key)).join(", ")}`;
  }

  /** When a commit fails, the memory of this host is ahead of the disk: it is given up, so that the next call starts from the disk. */
  commit<Value>(owned: Owned, committed: Promise<Value>): Promise<Value> {
    return committed.catch(async (error: unknown) => {
      const current = await this.#ownership.current?.catch(() => undefined);
      if (current === owned) this.disown(`its run could not be stored: ${messageOf(error)}`);
      throw error;
    });
  }

  /** Back to what is stored. */
  disown(reason: string): void {
    this.#ports.log.warn("what a source remembered was not stored; it goes on from what is", { source: this.#sourceId, reason });
    this.#ownership.giveUp();
    this.#onDisowned();
    for (const unit of this.#units.kill(reason)) this.#disowned.add(unit);
  }

  /** Writes from outside; a warm unit sees it at once. Throws PD_BODY_TOO_LARGE, PD_NOT_STORED. */
  async write(slug: string, changes: StateChanges): Promise<void> {
    const { store } = this.#ports;
    // Nothing may come between the look at who owns it and the write: whoever took it over then would not know of it.
    while (this.owned === undefined && this.#ownership.current !== undefined) await this.#ownership.current.catch(() => {});
    const { owned } = this;
    if (owned?.hasRoomFor(changes) === false) throw stateTooLarge(slug);
    // In memory first: a run that writes the same key after this is also stored after it.
    if (owned !== undefined) this.spread(owned, changes, undefined);
    const write = (): Promise<void> => store.writeState(this.#sourceId, changes, owned?.fence);
    await (owned === undefined ? write() : this.commit(owned, write()));
  }

  /** From now on the units work on this state; it is stored by `storeCarried`. */
  async carry({ state, cache }: CarriedState): Promise<void> {
    const owned = await this.take();
    const cleared = Object.fromEntries(Object.keys(owned.state).map((key) => [key, null]));
    this.spread(owned, { ...cleared, ...state }, undefined);
    owned.cache = cache;
  }

  /** Stores the state as it is by now, in one go with the rest of a change. */
  async storeCarried(write: (now: CarriedState) => Promise<void>): Promise<void> {
    const { state, cache } = await this.take();
    await write({ state, cache });
  }

  /**
   * Commits what a call did after it had ended; what cannot be kept of it is told in its log. Throws PD_NOT_STORED when it
   * was built on what is not stored.
   */
  async commitLate(part: LatePart, unit: Unit | undefined, strategy: DedupeStrategy | undefined): Promise<void> {
    const owned = await this.take();
    if (unit !== undefined && this.#disowned.has(unit))
      throw new PdError("PD_NOT_STORED", "Cannot store what a run did after its end: a run before it could not be stored, and it was built on that one");
    const isTooLarge = !owned.hasRoomFor(part.result.stateChanges);
    const lost = isTooLarge ? Object.keys(part.result.stateChanges) : owned.clashesOf(part.result.touched ?? {}, unit);
    const kept = withoutLost(part, lost, { at: this.#ports.clock.now(), why: isTooLarge ? "it is too much" : "others had written it meanwhile" });
    this.spread(owned, kept.result.stateChanges, unit);
    await this.commit(owned, commitLate(this.#ports, owned, { strategy, part: kept }));
  }
}
