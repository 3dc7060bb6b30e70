import type { SourceRecord } from "../../api/sources.ts";
import type { ExportedRecord } from "../../api/transfer.ts";
import type { Connection } from "../../client/connection.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../domain/text/json.ts";
import type { TransferWishes } from "./transfer-plan.ts";

/** The hosted platform keeps 100. */
const KEPT_EVENTS = 100;

type HostedSource = Pick<SourceRecord, "id" | "component_id" | "configured_props" | "name_slug" | "name" | "active">;

/** Reads the documented endpoints, and returns our format. */
export async function exportHosted(connection: Connection, source: HostedSource, { events }: TransferWishes): Promise<ExportedRecord> {
  const read = async (path: string): Promise<readonly JsonObject[]> => recordsIn(await connection.request({ method: "GET", path }));
  const [component = {}] = await read(`/v1/components/${encodeURIComponent(source.component_id)}`);
  const declared = Array.isArray(component["configurable_props"]) ? component["configurable_props"].filter(isJsonObject) : [];
  const values = source.configured_props;
  const props: JsonObject = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const prop = declared.find((candidate) => candidate["name"] === name) ?? {};
    const type = typeof prop["type"] === "string" ? prop["type"] : guessedType(value);
    if (type === "app" || prop["secret"] === true) withheld.push(name);
    else if (type === "$.interface.timer") props[name] = isJsonObject(value) ? timerInput(value) : value;
    else if (!type.startsWith("$.interface.") && type !== "$.service.db" && value !== null && value !== undefined) props[name] = value;
  }
  const count = Math.min(events, KEPT_EVENTS);
  const summaries = count === 0 ? [] : (await read(`/v1/sources/${encodeURIComponent(source.id)}/event_summaries?expand=event&limit=${count}`)).toReversed();
  return {
    slug: source.name_slug,
    name: source.name,
    active: source.active !== false,
    version: text(component, "version"),
    component: { code: text(component, "code"), path: `${source.name_slug}.js`, files: {} },
    packages: {},
    configured_props: props,
    secret_props: withheld,
    withheld_props: withheld,
    prop_names: declared.map((prop) => text(prop, "name")),
    env: {},
    withheld_env: [],
    events: summaries.map((summary) => ({
      event: summary["event"] ?? null,
      indexed_at_ms: Number(summary["indexed_at_ms"] ?? 0),
      metadata: metadataOf(summary),
    })),
  };
}

/** The exact answer is unknown: an envelope holds one record or a list. */
function recordsIn(body: JsonValue | undefined): readonly JsonObject[] {
  const data = isJsonObject(body) ? body["data"] : undefined;
  return (Array.isArray(data) ? data : [data ?? null]).filter(isJsonObject);
}

function text(record: JsonObject, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}

function metadataOf(summary: JsonObject) {
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

/** The platform's format is `{ cron, interval_seconds }`. */
function timerInput({ cron, timezone, interval_seconds: seconds }: JsonObject): JsonObject {
  if (cron !== null && cron !== undefined) return { cron, ...(typeof timezone === "string" ? { timezone } : {}) };
  return seconds === null || seconds === undefined ? {} : { intervalSeconds: seconds };
}

/** For a prop that is no longer declared. */
function guessedType(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return "any";
  if ("authProvisionId" in value) return "app";
  return "endpoint_url" in value ? "$.interface.http" : "any";
}
