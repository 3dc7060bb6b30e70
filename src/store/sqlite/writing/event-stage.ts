import type { Bound, Database } from "../../../database/driver.ts";
import { runEventWriter } from "../rows/event-writer.ts";
import type { RunMemory, Staged } from "../tables/run-events.ts";
import { stagedEvents } from "../rows/staged-events.ts";
import { type AddendumMessage, type RunMessage, eventsIn, isFencedMessage, partCountOf, partsFrom } from "../rows/run-message.ts";
import type { WriteRequest } from "./write-request.ts";

/** Smaller runs take 20 ms without listeners. */
const MANY_PARTS = 4;

/** Others do not wait for all of its events. */
export interface LargeWrite {
  readonly request: WriteRequest;
  readonly told: RunMessage | AddendumMessage;
  readonly staged: Staged;
}

export function isLarge({ values: [told] }: WriteRequest): boolean {
  return isFencedMessage(told) && partCountOf(told) >= MANY_PARTS;
}

export function largeWriteOf(request: WriteRequest): LargeWrite | undefined {
  const [told] = request.values;
  return isFencedMessage(told) ? { request, told, staged: { parts: 0, listeners: [] } } : undefined;
}

export class EventStage {
  readonly #memory: RunMemory;
  readonly #insertEvents;
  readonly #staged;

  constructor(db: Database, memory: RunMemory) {
    this.#memory = memory;
    this.#insertEvents = runEventWriter(db);
    this.#staged = stagedEvents(db);
  }

  /** Writes at least one part, then more until another write waits. Throws PD_NOT_STORED when the source is gone or another host owns it. */
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

  /** Undefined while parts are missing. */
  end({ request: { id, verb }, told, staged }: LargeWrite): WriteRequest | undefined {
    if (staged.parts < partCountOf(told)) return undefined;
    this.#staged.end(told);
    return { id, verb, values: [told, staged] };
  }

  giveUp({ told }: LargeWrite): void {
    this.#staged.giveUp(told);
  }
}
