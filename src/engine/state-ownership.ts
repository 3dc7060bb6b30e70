import type { DeployedId } from "../domain/ids.ts";
import type { StateChanges } from "../domain/invocation.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Ownership } from "./commit-run.ts";

/** Ownership of the stored part of a source, with the state as it is after all runs so far. */
export interface Owned extends Ownership {
  readonly state: Record<string, string>;
}

/** Takes the stored part of a source over when it is first needed, and keeps it until it is given up. */
export class StateOwnership {
  readonly #store: Pick<RunStore, "open">;
  readonly #sourceId: DeployedId;
  #owned: Promise<Owned> | undefined;

  constructor(store: Pick<RunStore, "open">, sourceId: DeployedId) {
    this.#store = store;
    this.#sourceId = sourceId;
  }

  /** `undefined` while the source is cold. */
  get current(): Promise<Owned> | undefined {
    return this.#owned;
  }

  take(): Promise<Owned> {
    if (this.#owned !== undefined) return this.#owned;
    const sourceId = this.#sourceId;
    const opened = this.#store.open(sourceId).then(({ state, cache, fence }) => ({ sourceId, state: { ...state }, cache, fence }));
    this.#owned = opened;
    opened.catch(() => {
      if (this.#owned === opened) this.#owned = undefined;
    });
    return opened;
  }

  giveUp(): void {
    this.#owned = undefined;
  }
}

export function applyChanges({ state }: Owned, changes: StateChanges): void {
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete state[key];
    else state[key] = value;
  }
}
