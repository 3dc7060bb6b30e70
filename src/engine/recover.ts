import { messageOf } from "../domain/errors.ts";
import type { StoredSource } from "../domain/deployed-component.ts";
import { type DeployedId, invocationId } from "../domain/ids.ts";
import type { PendingRequest } from "../ports/run-store.ts";
import { reactivate } from "./sources/hooks.ts";
import { giveUpVersion } from "./sources/update.ts";
import type { EnginePorts } from "./ports.ts";
import { unreadableBecause } from "./runs/unreadable.ts";
import { runUntilStored } from "./requests/pending.ts";
import type { LiveSource } from "./runs/live-source.ts";
import type { HostedSources } from "./sources/hosted-sources.ts";

/** Runs of timers that an earlier server did not finish: each instant fires at most once, so they are recorded, not repeated. */
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

/** A version that was cut off before it was stored is known by its calls alone: its number is theirs also when they are many runs ago. */
export async function keepSeenVersions(ports: Pick<EnginePorts, "store" | "log">, sources: readonly Pick<StoredSource, "outline">[]): Promise<void> {
  const seen = sources.filter(({ outline: { version, highestVersion } }) => highestVersion > version);
  await Promise.all(seen.map(({ outline }) => giveUpVersion(ports, outline, outline.highestVersion)));
}

/** Sources whose change was cut off after `deactivate` had run. Their hooks may call their own endpoints. */
export async function activateCutOff(ports: EnginePorts, sources: HostedSources): Promise<void> {
  const due = await ports.store.listActivateDue(sources.ids).catch((error: unknown) => {
    ports.log.error("it cannot be read which changes of sources were cut off", { reason: messageOf(error) });
    return [];
  });
  const cutOff = due.flatMap((id) => sources.byId(id) ?? []);
  const reactivateIfDue = async (live: LiveSource): Promise<void> => {
    // Somebody may have changed it meanwhile, and have brought its hooks to an end.
    const isDue = (await ports.store.listActivateDue([live.outline.id])).length > 0;
    if (isDue) await reactivate(ports, live);
  };
  await Promise.all(
    cutOff.map((live) =>
      sources
        .inTurn(live, () => reactivateIfDue(live))
        .catch((error: unknown) =>
          ports.log.warn("a source whose change was cut off was not activated", { source: live.outline.slug, reason: messageOf(error) }),
        ),
    ),
  );
}

/** They begin in their order. */
export function runPending(ports: EnginePorts, sources: HostedSources, requests: readonly PendingRequest[]): void {
  for (const request of requests) {
    const live = sources.byId(request.sourceId);
    if (live === undefined) continue;
    const unreadable = unreadableBecause(live);
    if (unreadable !== undefined) {
      ports.log.warn("a stored request waits", { id: request.id, reason: unreadable });
      continue;
    }
    // What a component answered by itself before the stop is not known any more.
    const isDefault = live.definition.props.some((prop) => prop.kind === "http" && !prop.customResponse);
    runUntilStored(ports, live, { ...request, ...(isDefault ? { responseStatus: () => 200 } : {}) }).catch((error: unknown) =>
      ports.log.warn("a stored request waits", { id: request.id, reason: messageOf(error) }),
    );
  }
}
