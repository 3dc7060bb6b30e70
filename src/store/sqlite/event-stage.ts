import type { Bound, Database } from "../../database/driver.ts";
import { runEventWriter } from "./event-writer.ts";
import type { RunMemory, Staged } from "./run-events.ts";
import { stagedEvents } from "./staged-events.ts";
import { type TravellingAddendum, type TravellingRun, eventsIn, isTravelling, partCountOf, partsFrom } from "./travelling.ts";
import type { WriteRequest } from "./write-request.ts";

/** A run of fewer parts is written as a whole: with nobody who listens that takes some 20 ms. */
const MANY_PARTS = 4;

/** A run, or what came after its end, with so many events that others need not wait until all of them are written. */
export interface LargeWrite {
  readonly request: WriteRequest;
  readonly told: TravellingRun | TravellingAddendum;
  readonly staged: Staged;
}

export function isLarge({ values: [told] }: WriteRequest): boolean {
  return isTravelling(told) && partCountOf(told) >= MANY_PARTS;
}

export function largeWriteOf(request: WriteRequest): LargeWrite | undefined {
  const [told] = request.values;
  return isTravelling(told) ? { request, told, staged: { parts: 0, listeners: [] } } : undefined;
}

/** Writes the events of large runs, and their deliveries, in parts: in as many transactions as others want to write meanwhile. */
export class EventStage {
  readonly #memory: RunMemory;
  readonly #insertEvents;
  readonly #staged;

  constructor(db: Database, memory: RunMemory) {
    this.#memory = memory;
    this.#insertEvents = runEventWriter(db);
    this.#staged = stagedEvents(db);
  }

  /**
   * Writes parts until none is left or somebody waits, at least one, and returns what has become of it. Throws
   * PD_NOT_STORED when its source is gone or another host has it.
   */
  write(large: LargeWrite, isAwaited: () => boolean): LargeWrite {
    const { told, staged } = large;
    const firstSeq = this.#memory.progress.next(told.sourceId, told.fence);
    if (staged.parts === 0) this.#staged.begin(told);
    else this.#staged.goOn(told);
    let { parts } = staged;
    const listeners = new Set(staged.listeners);
    for (const { columns, before } of partsFrom(told, parts)) {
      for (const listener of this.#writePart(told, columns, firstSeq + before)) listeners.add(listener);
      parts++;
      if (isAwaited()) break;
    }
    return { ...large, staged: { parts, listeners: [...listeners] } };
  }

  #writePart(told: LargeWrite["told"], columns: readonly Bound[], firstSeq: number): Staged["listeners"] {
    this.#insertEvents(told, columns, firstSeq);
    const { sourceId, id: invocationId, at } = told;
    return this.#memory.publisher.publishTo(sourceId, () => ({ sourceId, invocationId, at, events: eventsIn(told, columns, firstSeq), logs: [], logChunk: 0 }));
  }

  /** The rest of it, its commit, once all its parts are written: from now on they count. `undefined`: some are not. */
  end({ request: { id, verb }, told, staged }: LargeWrite): WriteRequest | undefined {
    if (staged.parts < partCountOf(told)) return undefined;
    this.#staged.end(told);
    return { id, verb, values: [told, staged] };
  }

  /** Removes what is written of it: it will not be committed. */
  giveUp({ told }: LargeWrite): void {
    this.#staged.giveUp(told);
  }
}
