import type { ListenerId } from "../domain/ids.ts";
import { messageOf } from "../domain/errors.ts";
import type { EnginePorts } from "./ports.ts";
import type { SourceRegistry } from "./registry.ts";
import type { Workbench } from "./workbench.ts";

const PRUNE_EVERY_MS = 60_000;
/** Between the steps of one pruning, so that commits get their turn. */
const PRUNE_PAUSE_MS = 20;
const COOL_DOWN_EVERY_MS = 2000;

/** Removes what is older or more than the retention allows, in small steps, until the server stops. */
export async function keepPruned({ store, clock, log, settings, signal }: EnginePorts, sources: SourceRegistry): Promise<void> {
  const repeat = async (step: () => Promise<number>): Promise<void> => {
    while (!signal.aborted && (await step()) > 0) await clock.sleepUntil(clock.now() + PRUNE_PAUSE_MS, signal);
  };
  while (!signal.aborted) {
    try {
      for (const { source } of sources.all()) await repeat(() => store.prune(source.id, settings.retention, clock.now()));
      const listeners: readonly ListenerId[] = [...store.listWebhooks().map(({ id }) => id), ...[...sources.all()].map(({ source }) => source.id)];
      for (const id of listeners) await repeat(() => store.pruneDeliveries(id, settings.retention, clock.now()));
      await repeat(() => store.shrink());
    } catch (error) {
      if (!signal.aborted) log.error("old events and invocations could not be removed", { reason: messageOf(error) });
    }
    await clock.sleepUntil(clock.now() + PRUNE_EVERY_MS, signal);
  }
}

/** Ends the processes of sources that have nothing to do, until the server stops. */
export async function keepCool({ clock, settings, signal }: EnginePorts, sources: SourceRegistry, workbench: Workbench): Promise<void> {
  while (!signal.aborted) {
    await clock.sleepUntil(clock.now() + Math.min(COOL_DOWN_EVERY_MS, settings.idleMs), signal);
    workbench.coolDown();
    for (const live of sources.all()) if (live.isWarm) live.coolDown(settings.idleMs);
  }
}
