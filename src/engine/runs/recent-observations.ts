import type { DeployedId } from "../../domain/ids.ts";
import type { Invocation } from "../../domain/invocation.ts";
import type { RunStore } from "../../ports/run-store.ts";
import type { Observation } from "./event-feed.ts";

/** What could have been watched of a source lately, oldest first: the newest `limit` observations. */
export async function recentObservations(store: RunStore, sourceId: DeployedId, limit: number): Promise<readonly Observation[]> {
  const groups: (readonly Observation[])[] = [];
  let count = 0;
  for (const invocation of await store.listInvocations(sourceId, { limit })) {
    const group = await observationsOf(store, invocation);
    groups.push(group);
    count += group.length;
    if (count >= limit) break;
  }
  return groups.toReversed().flat().slice(-limit);
}

async function observationsOf(store: RunStore, invocation: Invocation): Promise<Observation[]> {
  const { id, startedAt, durationMs, trigger, outcome, eventCount, dropped, replayOf } = invocation;
  const lines = (await store.invocationLogs(id)).map((line): Observation => ({ kind: "line", id, line }));
  return [
    { kind: "started", id, at: startedAt, trigger, ...(replayOf === undefined ? {} : { replayOf }) },
    ...lines,
    { kind: "ended", id, at: startedAt + durationMs, durationMs, outcome, eventCount, dropped },
  ];
}
