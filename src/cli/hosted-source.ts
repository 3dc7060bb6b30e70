import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "./api-client.ts";
import { text } from "./reporter.ts";
import type { TransferWishes } from "./transfer-plan.ts";

/** As many events as the hosted platform keeps (platform.md §1.5). */
const KEPT_EVENTS = 100;

/** A source of the hosted platform as far as its documented endpoints tell (platform.md §1.3 to §1.5), in the shape of our exports. */
export async function exportHosted(client: ApiClient, source: JsonObject, { events }: TransferWishes): Promise<JsonObject> {
  const component = dataOf(await client.get(`/v1/components/${encodeURIComponent(text(source, "component_id"))}`));
  const declared = Array.isArray(component["configurable_props"]) ? component["configurable_props"].filter(isJsonObject) : [];
  const values = isJsonObject(source["configured_props"]) ? source["configured_props"] : {};
  const props: JsonObject = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const prop = declared.find((candidate) => candidate["name"] === name) ?? {};
    if (prop["type"] === "app" || prop["secret"] === true || isAccount(value)) withheld.push(name);
    else if (isTimer(value)) props[name] = timerInput(value);
    else if (!isInterface(value) && value !== null && value !== undefined) props[name] = value;
  }
  const count = Math.min(events, KEPT_EVENTS);
  const summaries = count === 0 ? [] : listOf(await client.get(`/v1/sources/${text(source, "id")}/event_summaries?expand=event&limit=${count}`)).toReversed();
  return {
    slug: text(source, "name_slug"),
    name: text(source, "name"),
    active: source["active"] !== false,
    version: text(component, "version"),
    component: { code: text(component, "code"), path: `${text(source, "name_slug")}.mjs`, files: {} },
    packages: {},
    configured_props: props,
    withheld_props: withheld,
    env: {},
    withheld_env: [],
    events: summaries.map((summary) => ({
      event: summary["event"] ?? null,
      indexed_at_ms: Number(summary["indexed_at_ms"] ?? 0),
      metadata: metadataOf(summary),
    })),
  };
}

function metadataOf(summary: JsonObject): JsonObject {
  const given = isJsonObject(summary["metadata"]) ? summary["metadata"] : {};
  const { name, id, summary: title, ts, emit_id: emitId } = given;
  return {
    name: typeof name === "string" ? name : "",
    ...(id === undefined || id === null ? {} : { id: String(id) }),
    ...(typeof title === "string" ? { summary: title } : {}),
    ...(typeof ts === "number" ? { ts } : {}),
    invocation_id: typeof emitId === "string" ? emitId : "",
  };
}

/** `{ cron, interval_seconds }`, as the platform shows what is given as `{ cron }` or `{ intervalSeconds }`. */
function isTimer(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && ("interval_seconds" in value || "cron" in value);
}

function timerInput({ cron, timezone, interval_seconds: seconds }: JsonObject): JsonObject {
  if (cron !== null && cron !== undefined) return { cron, ...(typeof timezone === "string" ? { timezone } : {}) };
  return seconds === null || seconds === undefined ? {} : { intervalSeconds: seconds };
}

function isAccount(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && "authProvisionId" in value;
}

function isInterface(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && ("endpoint_url" in value || value["type"] === "$.service.db");
}
