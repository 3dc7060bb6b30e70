import type { DedupeCache } from "../../../domain/event/dedupe.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { StateChanges, TouchedKeys } from "../../../domain/run/invocation.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { RunStore } from "../../../ports/stores/run-store.ts";
import type { Unit } from "../../../ports/runner.ts";
import type { Ownership } from "../commits/commit-run.ts";

/** Undefined for a write that no unit made. */
type Writer = Unit | undefined;

interface LastWrite {
  readonly writer: Writer;
  readonly epoch: number;
  /** Epoch of the newest write by any other writer. */
  readonly othersEpoch: number;
}

/**
 * The stored part of a source while this host owns it, with the state after all runs so far. Changes are counted, so that a call which missed a change is
 * detected before it overwrites the change.
 */
export class Owned implements Ownership {
  readonly sourceId: DeployedId;
  readonly fence: number;
  cache: DedupeCache;
  readonly #values: Map<string, string>;
  readonly #lastWrites = new Map<string, LastWrite>();
  #epoch = 0;
  #size: number;

  constructor(sourceId: DeployedId, { state, cache, fence }: { state: Readonly<Record<string, string>>; cache: DedupeCache; fence: number }) {
    this.sourceId = sourceId;
    this.fence = fence;
    this.cache = cache;
    this.#values = new Map(Object.entries(state));
    this.#size = Object.entries(state).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  }

  /** True when the state stays within LIMITS.state after these changes, or does not grow. */
  hasRoomFor(changes: StateChanges): boolean {
    const grown = Object.entries(changes).reduce((sum, [key, text]) => sum + (text === null ? 0 : key.length + text.length) - this.#sizeOf(key), 0);
    return grown <= 0 || this.#size + grown <= LIMITS.state;
  }

  #sizeOf(key: string): number {
    const text = this.#values.get(key);
    return text === undefined ? 0 : key.length + text.length;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Key → JSON text. */
  get state(): Record<string, string> {
    return Object.fromEntries(this.#values);
  }

  /** What is stored for these keys. */
  textsOf(keys: readonly string[]): StateChanges {
    return Object.fromEntries(keys.map((key) => [key, this.#values.get(key) ?? null]));
  }

  #othersEpoch(key: string, writer: Writer): number {
    const last = this.#lastWrites.get(key);
    if (last === undefined) return 0;
    return last.writer === writer ? last.othersEpoch : last.epoch;
  }

  /** Keys that others have changed since the call first touched them. */
  clashesOf(touched: TouchedKeys, writer: Writer): readonly string[] {
    return Object.keys(touched).filter((key) => this.#othersEpoch(key, writer) > (touched[key] ?? 0));
  }

  /** Drops references to a unit that has ended, so that this map does not keep it in memory. */
  forget(unit: Unit): void {
    for (const [key, { writer, epoch }] of this.#lastWrites) if (writer === unit) this.#lastWrites.set(key, { writer: undefined, epoch, othersEpoch: epoch });
  }

  apply(changes: StateChanges, writer: Writer): void {
    const entries = Object.entries(changes);
    if (entries.length === 0) return;
    const epoch = ++this.#epoch;
    for (const [key, value] of entries) {
      this.#size += (value === null ? 0 : key.length + value.length) - this.#sizeOf(key);
      if (value === null) this.#values.delete(key);
      else this.#values.set(key, value);
      this.#lastWrites.set(key, { writer, epoch, othersEpoch: this.#othersEpoch(key, writer) });
    }
  }
}

export class StateOwnership {
  readonly #store: Pick<RunStore, "open">;
  readonly #sourceId: DeployedId;
  #owned: Promise<Owned> | undefined;
  #taken: Owned | undefined;

  constructor(store: Pick<RunStore, "open">, sourceId: DeployedId) {
    this.#store = store;
    this.#sourceId = sourceId;
  }

  /** `undefined` while the source is cold. */
  get current(): Promise<Owned> | undefined {
    return this.#owned;
  }

  get taken(): Owned | undefined {
    return this.#taken;
  }

  take(): Promise<Owned> {
    if (this.#owned !== undefined) return this.#owned;
    const sourceId = this.#sourceId;
    const opened = this.#store.open(sourceId).then((stored) => new Owned(sourceId, stored));
    this.#owned = opened;
    opened.then(
      (owned) => {
        if (this.#owned === opened) this.#taken = owned;
      },
      () => {
        if (this.#owned === opened) this.#owned = undefined;
      },
    );
    return opened;
  }

  giveUp(): void {
    this.#owned = undefined;
    this.#taken = undefined;
  }
}
