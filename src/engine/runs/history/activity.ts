import type { SourceOutline } from "../../../domain/source/deployed-component.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EventStore } from "../../../ports/stores/event-store.ts";
import type { EndedCall, RunStore } from "../../../ports/stores/run-store.ts";

const HOUR_MS = 3_600_000;
const PARTS = 12;
const LATEST = 20;

export interface SourceActivity {
  readonly sourceId: DeployedId;
  /** Events in each five minutes of the last hour, oldest first. */
  readonly events: readonly number[];
  /** Newest first. */
  readonly calls: readonly EndedCall[];
  /** Omitted without a process, and when the process does not answer. */
  readonly memoryBytes?: number;
}

interface ActivityPorts {
  readonly store: Pick<EventStore, "firstSeqSince"> & Pick<RunStore, "listOutcomes">;
  readonly clock: Pick<Clock, "now">;
}

interface Watched {
  readonly outline: Pick<SourceOutline, "id">;
  memoryBytes(): Promise<number | undefined>;
}

/** Subtracts sequence numbers, so that many events cost the same as few. */
export async function activityOf({ store, clock }: ActivityPorts, sources: readonly Watched[]): Promise<readonly SourceActivity[]> {
  const now = clock.now();
  const edges = Array.from({ length: PARTS + 1 }, (_, index) => now - HOUR_MS + (index * HOUR_MS) / PARTS);
  return Promise.all(
    sources.map(async (live): Promise<SourceActivity> => {
      const { id: sourceId } = live.outline;
      // Includes events that are stored during this query.
      const seqs = await Promise.all(edges.map((at, index) => store.firstSeqSince(sourceId, index === PARTS ? Number.MAX_SAFE_INTEGER : at)));
      const events = seqs.slice(1).map((seq, index) => Math.max(0, seq - (seqs[index] ?? seq)));
      const [calls, memoryBytes] = await Promise.all([store.listOutcomes(sourceId, LATEST), live.memoryBytes()]);
      return { sourceId, events, calls, ...(memoryBytes === undefined ? {} : { memoryBytes }) };
    }),
  );
}
