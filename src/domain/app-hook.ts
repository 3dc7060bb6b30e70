/**
 * Requests that a third-party app posts to an app hook (platform.md §4.2, $.interface.apphook). The hosted platform
 * holds one webhook for its own app; here the user's own app posts to the source's endpoint.
 */
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "./json.ts";
import type { HttpTrigger } from "./trigger.ts";

/** The body as JSON; also one that travels in the form field `payload`, as Slack sends interactions. */
export function appHookBody({ body, headers }: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  const isForm = (headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  return parseJson(isForm ? (new URLSearchParams(body).get("payload") ?? "") : body);
}

/** The text that proves to an app that the endpoint is the user's; `undefined` for any other request. */
export function challengeOf(trigger: HttpTrigger): string | undefined {
  const body = appHookBody(trigger);
  return isJsonObject(body) && body["type"] === "url_verification" && typeof body["challenge"] === "string" ? body["challenge"] : undefined;
}

/** What `run` is called with: the event inside its envelope, where there is one. */
export function appHookPayload(trigger: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  const body = appHookBody(trigger);
  return isJsonObject(body) && isJsonObject(body["event"]) ? body["event"] : body;
}

/**
 * Every name that `eventNames` may know the event by: its type, its channel, both, the type with the kind of channel
 * (`message.im`), a topic header, and for interactions the ids of its actions.
 */
export function appHookNames(trigger: HttpTrigger): ReadonlySet<string> {
  const body = objectOf(appHookBody(trigger));
  const event = objectOf(appHookPayload(trigger));
  const topics = Object.entries(trigger.headers).flatMap(([name, value]) => (/^x-[\w-]*(topic|event)$/.test(name) ? [value] : []));
  const isInteraction = Array.isArray(body["actions"]);
  const types = [...(isInteraction ? ["interaction_events"] : []), ...textsOf(event["type"], body["event"], body["event_type"])];
  const channels = textsOf(event["channel"], objectOf(event["channel"])["id"], objectOf(event["item"])["channel"]);
  const kinds = textsOf(event["channel_type"]);
  const actions = isInteraction && Array.isArray(body["actions"]) ? body["actions"].flatMap((action) => textsOf(objectOf(action)["action_id"])) : [];
  return new Set([
    ...topics,
    ...types,
    ...channels,
    ...types.flatMap((type) => [
      ...kinds.map((kind) => `${type}.${kind}`),
      ...[...channels, ...actions].map((part) => `${type}:${part}`),
      ...channels.flatMap((channel) => actions.map((action) => `${type}:${channel}:${action}`)),
    ]),
  ]);
}

/** Nothing named wants everything. */
export function isWanted(trigger: HttpTrigger, eventNames: readonly string[] | undefined): boolean {
  if (eventNames === undefined || eventNames.length === 0) return true;
  const names = appHookNames(trigger);
  return eventNames.some((name) => names.has(name));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textsOf(...values: (JsonValue | undefined)[]): string[] {
  return values.filter((value) => typeof value === "string");
}
