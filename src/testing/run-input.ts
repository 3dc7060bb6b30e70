import { isRecord } from "../domain/text/json.ts";
import { type JsonValue, isJsonValue } from "../domain/text/json.ts";
import { PdError } from "../domain/errors.ts";
import type { PropDeclaration } from "../domain/props/kinds.ts";
import type { Schedule } from "../domain/timer/schedule.ts";
import type { HttpTrigger, Trigger } from "../domain/run/trigger.ts";

export interface TestRequest {
  /** The default is GET, or POST with a body. */
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** A request, a planned time, or an event for `run`, as in a manual run. */
export type RunInput =
  | { readonly http: TestRequest; readonly timer?: never; readonly event?: never; readonly steps?: never }
  | { readonly timer: { readonly prop?: string; readonly at?: number | Date }; readonly http?: never; readonly event?: never; readonly steps?: never }
  | { readonly event: unknown; readonly http?: never; readonly timer?: never; readonly steps?: never }
  /** For an action. */
  | { readonly steps: object; readonly event?: never; readonly http?: never; readonly timer?: never };

export interface InputContext {
  readonly props: readonly PropDeclaration[];
  readonly endpoint: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly scheduleOf: (prop: string) => Schedule;
}

/** Throws PD_BAD_INPUT when the source does not declare the interface. */
export function triggerOf(input: RunInput | undefined, { props, endpoint, now, scheduleOf }: InputContext): Trigger {
  if (input?.http !== undefined) {
    requireKind(props, "http");
    return requestOf(input.http, endpoint);
  }
  if (input?.timer !== undefined) {
    const prop = input.timer.prop ?? requireKind(props, "timer");
    return { kind: "timer", prop, plannedAt: Number(input.timer.at ?? now), schedule: scheduleOf(prop) };
  }
  return { kind: "manual", event: jsonOf(input?.event ?? {}) };
}

function requireKind(props: readonly PropDeclaration[], kind: "http" | "timer"): string {
  const found = props.find((prop) => prop.kind === kind);
  if (found !== undefined) return found.name;
  throw new PdError("PD_BAD_INPUT", `Cannot run the source by ${kind}: it declares no prop of the type $.interface.${kind}`, { fix: "run({ event })" });
}

function requestOf({ method, path = "/", query = {}, headers = {}, body }: TestRequest, endpoint: string): HttpTrigger {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const isText = typeof body === "string";
  const search = new URLSearchParams(query).toString();
  return {
    kind: "http",
    method: (method ?? (body === undefined ? "GET" : "POST")).toUpperCase(),
    path,
    query: search,
    url: `${endpoint}${path === "/" ? "" : path}${search === "" ? "" : `?${search}`}`,
    headers: { ...(body === undefined || isText ? {} : { "content-type": "application/json" }), host: new URL(endpoint).host, ...given },
    clientIp: "127.0.0.1",
    body: body === undefined ? "" : isText ? body : JSON.stringify(body),
    encoding: "utf8",
  };
}

/** Throws PD_BAD_INPUT for a value that JSON cannot represent. */
export function jsonOf(value: unknown): JsonValue {
  const travelled: unknown = JSON.parse(JSON.stringify(value) ?? "null");
  if (isJsonValue(travelled) || isRecord(travelled)) return isJsonValue(travelled) ? travelled : {};
  throw new PdError("PD_BAD_INPUT", "Cannot use a value that is not JSON");
}
