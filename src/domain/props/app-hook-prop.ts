import type { PropKind, Reading } from "./prop-kind.ts";

/** An endpoint to which the user's own third-party app posts events. */
export interface AppHookProp {
  readonly kind: "app-hook";
  readonly name: string;
  /** Omitted when all events are accepted, or a method names them. */
  readonly eventNames?: readonly string[];
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

/** `static` is another spelling of `eventNames`. */
function read(name: string, { raw }: Reading): AppHookProp {
  const names = raw["eventNames"] ?? raw["static"];
  if (raw["eventNamesByMethod"] === true) return { kind: "app-hook", name, namesByMethod: true };
  return { kind: "app-hook", name, ...(Array.isArray(names) ? { eventNames: names.map(String) } : {}) };
}
