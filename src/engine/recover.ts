import { messageOf } from "../domain/errors.ts";
import type { StoredSource } from "../domain/source/stored-source.ts";
import { type DeployedId, invocationId } from "../domain/ids.ts";
import type { PendingRequest } from "../ports/stores/run-store.ts";
import { reactivate } from "./sources/hooks.ts";
import { giveUpVersion } from "./sources/update.ts";
import type { EnginePorts } from "./ports.ts";
import { unreadableBecause } from "./runs/source/unreadable.ts";
import { runUntilStored } from "./requests/pending.ts";
import type { LiveSource } from "./runs/source/live-source.ts";
import type { HostedSources } from "./sources/hosted-sources.ts";

/** Interrupted timer runs are recorded and not repeated, because each instant fires at most once. */
export async function settleRunningInstants({ store, clock }: EnginePorts, of: readonly DeployedId[]): Promise<void> {
  for (const instant of await store.listRunning(of)) {
    const { sourceId, prop, plannedAt } = instant;
    const timer = (await store.listTimers([sourceId])).find((candidate) => candidate.prop === prop);
    const schedule = timer?.schedule ?? { kind: "interval", seconds: 3600 };
    const { fence } = await store.open(sourceId);
    const id = instant.invocationId ?? invocationId(clock.now(), clock.randomText(8));
    await store.commit({
      fence,
      invocation: {
        id,
        sourceId,
        trigger: { kind: "timer", prop, plannedAt, schedule },
        startedAt: plannedAt,
        durationMs: 0,
        outcome: { kind: "interrupted", reason: "the server ended while it ran" },
        eventCount: 0,
        dropped: {},
      },
      events: [],
      stateChanges: {},
      logs: [],
    });
  }
}

/** A version that was interrupted before it was stored is known only from its calls. Stores its number, so that it outlives their records. */
export async function keepSeenVersions(ports: Pick<EnginePorts, "store" | "log">, sources: readonly Pick<StoredSource, "outline">[]): Promise<void> {
  const seen = sources.filter(({ outline: { version, highestVersion } }) => highestVersion > version);
  await Promise.all(seen.map(({ outline }) => giveUpVersion(ports, outline, outline.highestVersion)));
}

/**
 * The change of these sources was interrupted after `deactivate`. Endpoints must already answer, because hooks may call
 * their own.
 */
export async function activateCutOff(ports: EnginePorts, sources: HostedSources): Promise<void> {
  const due = await ports.store.listActivateDue(sources.ids).catch((error: unknown) => {
    ports.log.error("interrupted changes of sources cannot be read", { reason: messageOf(error) });
    return [];
  });
  const cutOff = due.flatMap((id) => sources.byId(id) ?? []);
  const reactivateIfDue = async (live: LiveSource): Promise<void> => {
    // Another change may have run the hooks.
    const isDue = (await ports.store.listActivateDue([live.outline.id])).length > 0;
    if (isDue) await reactivate(ports, live);
  };
  await Promise.all(
    cutOff.map((live) =>
      sources
        .inTurn(live, () => reactivateIfDue(live))
        .catch((error: unknown) =>
          ports.log.warn("a source with an interrupted change was not activated", { source: live.outline.slug, reason: messageOf(error) }),
        ),
    ),
  );
}

export function runPending(ports: EnginePorts, sources: HostedSources, requests: readonly PendingRequest[]): void {
  for (const request of requests) {
    const live = sources.byId(request.sourceId);
    if (live === undefined) continue;
    const unreadable = unreadableBecause(live);
    if (unreadable !== undefined) {
      ports.log.warn("a stored request waits", { id: request.id, reason: unreadable });
      continue;
    }
    // The response that a component gave itself before the stop is lost.
    const isDefault = live.definition.props.some((prop) => prop.kind === "http" && !prop.customResponse);
    runUntilStored(ports, live, { ...request, ...(isDefault ? { responseStatus: () => 200 } : {}) }).catch((error: unknown) =>
      ports.log.warn("a stored request waits", { id: request.id, reason: messageOf(error) }),
    );
  }
}
