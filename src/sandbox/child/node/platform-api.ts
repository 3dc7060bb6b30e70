/** Published components call the hosted platform's API, for example to subscribe to themselves or to cancel scheduled events. This server answers instead. */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { urlToHttpOptions } from "node:url";
import { isRecord } from "../../../domain/text/json.ts";
import { HOSTED_API } from "../../channel/protocol.ts";

type Call = (...given: unknown[]) => unknown;

/** `base`: this server's API. `url`: the component's module. */
export function leadPlatformCallsTo(base: string, url: string): void {
  const target = new URL(base);
  if (target.hostname === HOSTED_API) return;
  const require = createRequire(url);
  // Both modules load slowly.
  const [https, http]: Record<string, unknown>[] = [require("node:https"), require(target.protocol === "https:" ? "node:https" : "node:http")];
  for (const name of ["request", "get"]) {
    const [own, other] = [https?.[name], http?.[name]];
    if (https !== undefined && isCall(own) && isCall(other)) https[name] = leading(own, other, target);
  }
  syncBuiltinESMExports();
  const send = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const wanted = new URL(input instanceof Request ? input.url : input);
    if (wanted.hostname !== HOSTED_API) return send(input, init);
    const led = new URL(wanted.pathname + wanted.search, target);
    return send(input instanceof Request ? new Request(led, input) : led, init);
  };
}

function leading(own: Call, other: Call, target: URL): Call {
  return (...given) => {
    const [first, second] = given;
    const address = typeof first === "string" || first instanceof URL ? urlToHttpOptions(new URL(first)) : {};
    const settings = [first, second].find((value): value is Record<string, unknown> => isRecord(value) && !(value instanceof URL));
    const options: Record<string, unknown> = { ...address, ...settings };
    if ((options["hostname"] ?? options["host"]) !== HOSTED_API) return own(...given);
    const led = { ...options, protocol: target.protocol, host: target.hostname, hostname: target.hostname, port: target.port, agent: undefined };
    return other(
      led,
      given.find((value) => typeof value === "function"),
    );
  };
}

function isCall(value: unknown): value is Call {
  return typeof value === "function";
}
