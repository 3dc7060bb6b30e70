import type { PropKind, Reading } from "./prop-kind.ts";

/** An endpoint that the user's own app at a third party posts its events to. */
export interface AppHookProp {
  readonly kind: "app-hook";
  readonly name: string;
  /** Which events are wanted; absent: all, or the component tells by a method. */
  readonly eventNames?: readonly string[];
  /** `eventNames` is a method. */
  readonly namesByMethod?: true;
}

export const appHookKind: PropKind<AppHookProp> = {
  kind: "app-hook",
  types: ["$.interface.apphook"],
  read,
  facts: ({ name, eventNames }) => ({ name, type: "$.interface.apphook", ...(eventNames === undefined ? {} : { eventNames: [...eventNames] }) }),
  shown: (_value, endpoint) => ({ endpoint_url: endpoint }),
  isGivenByServer: true,
  hasEndpoint: true,
};

/** Names given in `static` count as those in `eventNames` (registry.md §3). */
function read(name: string, { raw }: Reading): AppHookProp {
  const names = raw["eventNames"] ?? raw["static"];
  if (raw["eventNamesByMethod"] === true) return { kind: "app-hook", name, namesByMethod: true };
  return { kind: "app-hook", name, ...(Array.isArray(names) ? { eventNames: names.map(String) } : {}) };
}
