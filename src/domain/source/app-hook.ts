/**
 * The user's own app posts to the source's endpoint. On the hosted platform, the platform's app receives these
 * requests.
 */
import { formFields } from "../text/form.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../text/json.ts";
import { hasTooManyFields, isTooComplex } from "../limits.ts";
import type { HttpTrigger } from "../run/trigger.ts";

/** In a form, the JSON is in the field `payload`, as in Slack's interactions. */
export function appHookBody({ body, headers }: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  const isForm = (headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  if (isForm && hasTooManyFields(body)) return undefined;
  const text = isForm ? (formFields(body).find(([name]) => name === "payload")?.[1] ?? "") : body;
  return isTooComplex(text) ? undefined : parseJson(text);
}

/** Answers a `url_verification` request. */
export function challengeOf(trigger: HttpTrigger): string | undefined {
  const body = appHookBody(trigger);
  return isJsonObject(body) && body["type"] === "url_verification" && typeof body["challenge"] === "string" ? body["challenge"] : undefined;
}

/** The whole body when it has no envelope. */
export function appHookPayload(trigger: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  return eventIn(appHookBody(trigger));
}

function eventIn(body: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(body) && isJsonObject(body["event"]) ? body["event"] : body;
}

interface NameParts {
  readonly topics: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly actions: ReadonlySet<string>;
}

function namePartsOf(trigger: HttpTrigger): NameParts {
  const told = appHookBody(trigger);
  const [body, event] = [objectOf(told), objectOf(eventIn(told))];
  const { actions } = body;
  const isInteraction = Array.isArray(actions);
  return {
    topics: new Set(Object.entries(trigger.headers).flatMap(([name, value]) => (/^x-[\w-]*(topic|event)$/.test(name) ? [value] : []))),
    types: new Set([...(isInteraction ? ["interaction_events"] : []), ...textsOf(event["type"], body["event"], body["event_type"])]),
    channels: new Set(textsOf(event["channel"], objectOf(event["channel"])["id"], objectOf(event["item"])["channel"])),
    kinds: new Set(textsOf(event["channel_type"])),
    actions: new Set(isInteraction ? actions.flatMap((action) => textsOf(objectOf(action)["action_id"])) : []),
  };
}

/**
 * An event's names are its type, its channel, `type:channel`, `type.channel_type` (`message.im`) and topic headers.
 * Interactions also have `type:action_id` and `type:channel:action_id`. They could be thousands, so they are not built.
 */
function isNamed({ topics, types, channels, kinds, actions }: NameParts, name: string): boolean {
  if (topics.has(name) || types.has(name) || channels.has(name)) return true;
  return [...types].some((type) => {
    if (name.startsWith(`${type}.`)) return kinds.has(name.slice(type.length + 1));
    if (!name.startsWith(`${type}:`)) return false;
    const rest = name.slice(type.length + 1);
    const behind = (channel: string): boolean => rest.startsWith(`${channel}:`) && actions.has(rest.slice(channel.length + 1));
    return channels.has(rest) || actions.has(rest) || [...channels].some(behind);
  });
}

export function isWanted(trigger: HttpTrigger, eventNames: readonly string[] | undefined): boolean {
  // A body that is too complex to inspect is accepted.
  if (eventNames === undefined || eventNames.length === 0 || isTooComplex(trigger.body)) return true;
  const parts = namePartsOf(trigger);
  return eventNames.some((name) => isNamed(parts, name));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textsOf(...values: (JsonValue | undefined)[]): string[] {
  return values.filter((value) => typeof value === "string");
}
