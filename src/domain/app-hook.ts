/**
 * Requests that a third-party app posts to an app hook (platform.md §4.2, $.interface.apphook). The hosted platform
 * holds one webhook for its own app; here the user's own app posts to the source's endpoint.
 */
import { formFields } from "./form.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "./json.ts";
import { hasTooManyFields, isTooComplex } from "./limits.ts";
import type { HttpTrigger } from "./trigger.ts";

/** The body as JSON; also one that travels in the form field `payload`, as Slack sends interactions. */
export function appHookBody({ body, headers }: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  const isForm = (headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  if (isForm && hasTooManyFields(body)) return undefined;
  const text = isForm ? (formFields(body).find(([name]) => name === "payload")?.[1] ?? "") : body;
  return isTooComplex(text) ? undefined : parseJson(text);
}

/** The text that proves to an app that the endpoint is the user's; `undefined` for any other request. */
export function challengeOf(trigger: HttpTrigger): string | undefined {
  const body = appHookBody(trigger);
  return isJsonObject(body) && body["type"] === "url_verification" && typeof body["challenge"] === "string" ? body["challenge"] : undefined;
}

/** What `run` is called with: the event inside its envelope, where there is one. */
export function appHookPayload(trigger: Pick<HttpTrigger, "body" | "headers">): JsonValue | undefined {
  return eventIn(appHookBody(trigger));
}

function eventIn(body: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(body) && isJsonObject(body["event"]) ? body["event"] : body;
}

/** What the names of an event are made of. */
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
 * Whether an event may be known by a name: its type, its channel, both (`type:channel`), the type with the kind of channel
 * (`message.im`), a topic header, and for interactions the ids of its actions, behind type or type and channel. Only what
 * is asked for is looked at: a request may name thousands of each.
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

/** Nothing named wants everything. */
export function isWanted(trigger: HttpTrigger, eventNames: readonly string[] | undefined): boolean {
  // What is not looked into is not left out, either.
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
