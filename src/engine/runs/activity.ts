import type { SourceOutline } from "../../domain/deployed-component.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { EndedCall, RunStore } from "../../ports/run-store.ts";

const HOUR_MS = 3_600_000;
/** Parts of the hour: five minutes each. */
const PARTS = 12;
/** Calls that are looked at for how they ended. */
const LATEST = 20;

/** What a source has done lately. */
export interface SourceActivity {
  readonly sourceId: DeployedId;
  /** Events in each twelfth of the last hour, the oldest first. */
  readonly events: readonly number[];
  /** Newest first. */
  readonly calls: readonly EndedCall[];
  /** What its process takes up; absent while it has none, and when it does not answer. */
  readonly memoryBytes?: number;
}

interface ActivityPorts {
  readonly store: Pick<EventStore, "firstSeqSince"> & Pick<RunStore, "listOutcomes">;
  readonly clock: Pick<Clock, "now">;
}

/** A source as far as it is looked at. */
interface Watched {
  readonly outline: Pick<SourceOutline, "id">;
  memoryBytes(): Promise<number | undefined>;
}

/** Looks up no more than ends of numbers, so that a source with many events costs what one with few does. */
export async function activityOf({ store, clock }: ActivityPorts, sources: readonly Watched[]): Promise<readonly SourceActivity[]> {
  const now = clock.now();
  const edges = Array.from({ length: PARTS + 1 }, (_, index) => now - HOUR_MS + (index * HOUR_MS) / PARTS);
  return Promise.all(
    sources.map(async (live): Promise<SourceActivity> => {
      const { id: sourceId } = live.outline;
      // What is stored while this is asked belongs to the last part.
      const seqs = await Promise.all(edges.map((at, index) => store.firstSeqSince(sourceId, index === PARTS ? Number.MAX_SAFE_INTEGER : at)));
      const events = seqs.slice(1).map((seq, index) => Math.max(0, seq - (seqs[index] ?? seq)));
      const [calls, memoryBytes] = await Promise.all([store.listOutcomes(sourceId, LATEST), live.memoryBytes()]);
      return { sourceId, events, calls, ...(memoryBytes === undefined ? {} : { memoryBytes }) };
    }),
  );
}
