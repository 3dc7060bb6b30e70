import type { Database } from "../../database/driver.ts";
import type { ListenerId } from "../../domain/ids.ts";
import type { Publisher } from "./deliveries.ts";
import { runEventWriter } from "./event-writer.ts";
import { postponer } from "./postponed.ts";
import { json } from "./rows.ts";
import type { SourceProgress } from "./source-progress.ts";
import { type Failure, type TravellingAddendum, type TravellingAnswer, type TravellingRun, columnsFrom, eventCountOf, eventsIn } from "./travelling.ts";

/** What is written already of a large run, beside its commit. */
export interface Staged {
  /** The first parts of its events, with their deliveries. */
  readonly parts: number;
  /** Who got a delivery that is due. */
  readonly listeners: readonly ListenerId[];
}

export interface Written {
  readonly firstSeq: number;
  readonly staged: Staged | undefined;
}

/** What one thread knows of the database while it alone writes. */
export interface RunMemory {
  readonly progress: SourceProgress;
  readonly publisher: Publisher;
}

export interface RunEvents {
  /** Writes what is not staged of its events, which get their numbers. Throws PD_NOT_STORED when the fence is stale. */
  write(told: TravellingRun | TravellingAddendum, staged: Staged | undefined): Written;
  /** Writes a delivery for each listener that its messages reach. */
  publish(told: TravellingRun | TravellingAddendum, written: Written, rest: { readonly logChunk: number; readonly failure: () => Failure }): TravellingAnswer;
}

/** What a run, or what came after its end, has emitted. */
export function runEvents(db: Database, { progress, publisher }: RunMemory): RunEvents {
  const insertEvents = runEventWriter(db);
  const postpone = postponer(db);
  return {
    write(told, staged) {
      const { sourceId, id, fence, at, learned, postponed } = told;
      const firstSeq = progress.advance(sourceId, fence, { count: eventCountOf(told), learned });
      for (const { columns, before } of columnsFrom(told, staged?.parts ?? 0)) insertEvents(told, columns, firstSeq + before);
      if (postponed !== undefined) postpone(sourceId, postponed, { invocationId: id, at });
      return { firstSeq, staged };
    },
    publish(told, { firstSeq, staged }, { logChunk, failure }) {
      const listeners = publisher.publishTo(told.sourceId, () => {
        const { sourceId, id: invocationId, at, logs = "[]" } = told;
        const events = [...columnsFrom(told, staged?.parts ?? 0)].flatMap(({ columns, before }) => eventsIn(told, columns, firstSeq + before));
        return { sourceId, invocationId, at, events, logs: json(logs), logChunk, ...failure() };
      });
      return { firstSeq, listeners: staged === undefined ? listeners : [...new Set([...staged.listeners, ...listeners])] };
    },
  };
}
