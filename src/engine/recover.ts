import { messageOf } from "../domain/errors.ts";
import { invocationId } from "../domain/ids.ts";
import { callHook } from "./deploy.ts";
import type { EnginePorts } from "./ports.ts";
import { runUntilStored } from "./pending.ts";
import type { SourceRegistry } from "./registry.ts";

/** Takes up what an earlier server left unfinished: acknowledged requests, timers that were running, changes that were cut off. */
export async function recover(ports: EnginePorts, sources: SourceRegistry): Promise<void> {
  await settleRunningInstants(ports);
  await activateCutOff(ports, sources);
  runPending(ports, sources);
}

/** Each fired at most once: what was running is recorded as interrupted, not run again. */
async function settleRunningInstants({ store, clock }: EnginePorts): Promise<void> {
  for (const instant of store.listRunning()) {
    const { sourceId, prop, plannedAt } = instant;
    const timer = store.timersOf(sourceId).find((candidate) => candidate.prop === prop);
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

async function activateCutOff({ store, log }: EnginePorts, sources: SourceRegistry): Promise<void> {
  for (const id of store.listActivateDue()) {
    const live = sources.byId(id);
    try {
      if (live?.source.active === true) await callHook(live, "activate", `activate ${live.source.slug} again`);
    } catch (error) {
      log.error("a source whose change was cut off could not be activated again", { source: id, reason: messageOf(error) });
    }
    await store.endChange(id);
  }
}

/** Requests that were acknowledged begin in the order in which they came. */
function runPending(ports: EnginePorts, sources: SourceRegistry): void {
  for (const request of ports.store.listPending()) {
    const live = sources.byId(request.sourceId);
    if (live !== undefined)
      runUntilStored(ports, live, request).catch((error: unknown) => ports.log.warn("a stored request waits", { id: request.id, reason: messageOf(error) }));
  }
}
