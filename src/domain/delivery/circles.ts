import { type DeployedId, isDeployedId } from "../ids.ts";
import { type Subscription, emitterKey, keysReaching, reaches } from "./subscription.ts";

type Ends = Pick<Subscription, "emitterId" | "channel"> & { readonly listenerId: string };

/** Those that receive their own events, directly or indirectly. Ignores errors and logs (channels with `$`). */
export function inCircles(subscriptions: readonly Ends[]): readonly DeployedId[] {
  const hearing = subscriptions.filter(({ channel }) => !channel.startsWith("$"));
  const listeners = [...new Set(hearing.map(({ listenerId }) => listenerId).filter(isDeployedId))];
  const heard = new Map(listeners.map((listener): [DeployedId, Set<DeployedId>] => [listener, new Set()]));
  for (const ends of hearing) for (const emitter of emittersAmong(listeners, ends)) if (isDeployedId(ends.listenerId)) heard.get(ends.listenerId)?.add(emitter);
  // Repeatedly removes listeners that receive from, or send to, none of the rest.
  let left = new Set(listeners);
  for (let before = -1; before !== left.size;) {
    before = left.size;
    const hears = [...left].filter((listener) => [...(heard.get(listener) ?? [])].some((emitter) => left.has(emitter)));
    const isHeard = new Set(hears.flatMap((listener) => [...(heard.get(listener) ?? [])]));
    left = new Set(hears.filter((one) => isHeard.has(one)));
  }
  return [...left];
}

function emittersAmong(listeners: readonly DeployedId[], { emitterId, listenerId }: Ends): readonly DeployedId[] {
  const key = emitterKey(emitterId);
  return listeners.filter((emitter) => keysReaching(emitter).includes(key) && reaches({ emitterId, listenerId }, emitter));
}
