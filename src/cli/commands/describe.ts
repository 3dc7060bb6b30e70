import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { type CliContext, connect } from "../context.ts";
import { fields, printLine, printRecord, text } from "../reporter.ts";

/** `pd describe <source>`. */
export async function describe(cli: CliContext, source: string): Promise<number> {
  const client = await connect(cli);
  const record = await client.source(source);
  return printRecord(cli, record, () => printLine(cli, describedSource(record)));
}

function describedSource(record: JsonObject): string {
  const timers = Array.isArray(record["timers"]) ? record["timers"].filter(isJsonObject) : [];
  const variables = Array.isArray(record["env"]) ? record["env"].map(String).join(", ") : "";
  const values = isJsonObject(record["configured_props"]) ? Object.entries(record["configured_props"]) : [];
  return fields([
    ["id", record["id"]],
    ["name", record["name"]],
    ["slug", record["name_slug"]],
    ["version", record["component_version"]],
    ["active", record["active"] === true ? "yes" : "no"],
    ["endpoint", record["endpoint_url"]],
    ["dedupe", record["dedupe"]],
    ["variables", variables],
    ["runs at once", record["max_concurrency"]],
    ["may start programs", record["allow_run"] === true ? "yes" : undefined],
    ["loaded before it", Array.isArray(record["imports"]) ? record["imports"].map(String).join(", ") : ""],
    [
      "registry",
      isJsonObject(record["registry"])
        ? `${text(record["registry"], "name")} ${text(record["registry"], "package") || text(record["registry"], "commit")}`.trim()
        : "",
    ],
    ...timers.map((timer): [string, string] => ["next run", nextRun(timer)]),
    ...values.map(([name, value]): [string, string] => [`prop ${name}`, JSON.stringify(value)]),
  ]);
}

function nextRun(timer: JsonObject): string {
  const plan = timer["cron"] === undefined ? `every ${text(timer, "intervalSeconds")} s` : `${text(timer, "cron")} ${text(timer, "timezone")}`;
  const next = timer["next_at_ms"] === undefined ? "never" : new Date(Number(timer["next_at_ms"])).toISOString();
  return `${next} (${plan})`;
}
