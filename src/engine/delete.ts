import { callHook } from "./deploy.ts";
import type { LiveSource } from "./live-source.ts";
import { messageOf } from "../domain/errors.ts";
import type { EnginePorts } from "./ports.ts";
import type { EngineState } from "./registry.ts";

/** `deactivate`, then gone with all that belongs to it. `force` deletes although the hook throws. */
export function deleteSource(ports: EnginePorts, state: EngineState, { live, force }: { live: LiveSource; force: boolean }): Promise<void> {
  return state.sources.inTurn(live, async () => {
    const { id, slug, active } = live.source;
    if (active) await deactivate(ports, live, force);
    state.sources.remove(live);
    state.timers.replace(id, []);
    await ports.store.deleteSource(id);
    live.kill(`${slug} was deleted`);
  });
}

async function deactivate(ports: EnginePorts, live: LiveSource, force: boolean): Promise<void> {
  const { slug, id } = live.source;
  try {
    if (!live.component.definition.hooks.includes("deactivate")) return;
    await ports.store.beginChange(id);
    await callHook(live, "deactivate", `delete ${slug}`);
  } catch (error) {
    if (force) return ports.log.warn("deleted although its hook failed", { source: slug, reason: messageOf(error) });
    await ports.store.endChange(id);
    throw error;
  }
}
