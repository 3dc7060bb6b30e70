import type { Database } from "../../database/driver.ts";
import { runEventWriter } from "./event-writer.ts";
import type { SourceProgress } from "./source-progress.ts";
import { stagedEvents } from "./staged-events.ts";
import { type TravellingAddendum, type TravellingRun, isTravelling, partCountOf } from "./travelling.ts";
import type { WriteRequest } from "./write-request.ts";

/** A run of fewer parts is written as a whole: that takes some 20 ms. */
const MANY_PARTS = 4;

/** A run, or what came after its end, with so many events that others need not wait until all of them are written. */
export interface LargeWrite {
  readonly request: WriteRequest;
  readonly told: TravellingRun | TravellingAddendum;
  /** Parts of its events that are written. */
  readonly staged: number;
}

export function isLarge({ values: [told] }: WriteRequest): boolean {
  return isTravelling(told) && partCountOf(told) >= MANY_PARTS;
}

export function largeWriteOf({ id, verb, values: [told] }: WriteRequest): LargeWrite | undefined {
  // Its verb is told that the parts are there.
  return isTravelling(told) ? { request: { id, verb, values: [told, true] }, told, staged: 0 } : undefined;
}

export function isStaged({ told, staged }: LargeWrite): boolean {
  return staged === partCountOf(told);
}

/** Writes the events of large runs in parts, in as many transactions as others want to write meanwhile. */
export class EventStage {
  readonly #progress: Pick<SourceProgress, "next">;
  readonly #writer;
  readonly #staged;

  constructor(db: Database, progress: Pick<SourceProgress, "next">) {
    this.#progress = progress;
    this.#writer = runEventWriter(db);
    this.#staged = stagedEvents(db);
  }

  /**
   * Writes parts until none is left or somebody waits, at least one, and returns what has become of it. Throws
   * PD_NOT_STORED when its source is gone or another host has it.
   */
  write(large: LargeWrite, isAwaited: () => boolean): LargeWrite {
    const { told } = large;
    const firstSeq = this.#progress.next(told.sourceId, told.fence);
    if (large.staged === 0) this.#staged.begin(told);
    else this.#staged.goOn(told);
    let { staged } = large;
    do this.#writer.writePart(told, staged++, firstSeq);
    while (!isStaged({ ...large, staged }) && !isAwaited());
    return { ...large, staged };
  }

  /** Removes what is written of it: it will not be committed. */
  giveUp({ told }: LargeWrite): void {
    this.#staged.giveUp(told);
  }
}
