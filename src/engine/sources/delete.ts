import type { ChangePorts } from "./change-ports.ts";
import { callHook, hasHookThrown, reactivate } from "./hooks.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import { unreadableBecause } from "../runs/source/unreadable.ts";
import { messageOf } from "../../domain/errors.ts";
import type { Hosting } from "./hosted-sources.ts";

/** `force` ignores a failing `deactivate`. */
export function deleteSource(ports: ChangePorts, state: Hosting, { live, force }: { live: LiveSource; force: boolean }): Promise<void> {
  return state.sources.inTurn(live, async () => {
    const { id, slug } = live.outline;
    const unreadable = unreadableBecause(live);
    const hasDeactivate = unreadable === undefined && live.source.active && live.definition.hooks.includes("deactivate");
    if (hasDeactivate) await deactivate(ports, live, force);
    try {
      await ports.store.deleteSource(id);
    } catch (error) {
      if (hasDeactivate) await reactivate(ports, live);
      throw error;
    }
    if (unreadable !== undefined) ports.log.warn("deleted without its hooks, because it cannot be read", { source: slug, reason: unreadable });
    state.sources.remove(live);
    state.timers.replace(id, []);
    live.kill(`${slug} was deleted`);
    ports.feed.end(id);
  });
}

async function deactivate(ports: ChangePorts, live: LiveSource, force: boolean): Promise<void> {
  const { slug, id } = live.source;
  try {
    await ports.store.beginChange(id);
    await callHook(live, "deactivate", { attempted: `delete ${slug}` });
  } catch (error) {
    if (force) return ports.log.warn("deleted although its hook failed", { source: slug, reason: messageOf(error) });
    await (hasHookThrown(error) ? ports.store.endChange(id) : reactivate(ports, live));
    throw error;
  }
}
