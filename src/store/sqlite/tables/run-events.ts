import type { Database } from "../../../database/driver.ts";
import type { ListenerId } from "../../../domain/ids.ts";
import type { Publisher } from "./deliveries.ts";
import { runEventWriter } from "../rows/event-writer.ts";
import { postponer } from "./postponed.ts";
import { json } from "../../rows/rows.ts";
import type { SourceProgress } from "../rows/source-progress.ts";
import { type Failure, type AddendumMessage, type RunMessage, columnsFrom, eventCountOf, eventsIn } from "../rows/run-message.ts";
import { type CommitAnswer } from "../../rows/stored-commit.ts";

export interface Staged {
  /** Number of event parts that are written. */
  readonly parts: number;
  /** Those with a delivery due now. */
  readonly listeners: readonly ListenerId[];
}

export interface Written {
  readonly firstSeq: number;
  readonly staged: Staged | undefined;
}

export interface RunMemory {
  readonly progress: SourceProgress;
  readonly publisher: Publisher;
}

export interface RunEvents {
  /** Those that are not staged. Throws PD_NOT_STORED when the fence is stale. */
  write(told: RunMessage | AddendumMessage, staged: Staged | undefined): Written;
  publish(told: RunMessage | AddendumMessage, written: Written, rest: { readonly logChunk: number; readonly failure: () => Failure }): CommitAnswer;
}

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
