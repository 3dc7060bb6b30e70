import type { SourceRecord, TimerRecord } from "../../api/sources.ts";
import { type CliContext, connect } from "../context.ts";
import { findDeployed } from "../deployed.ts";
import { describedWorkflow } from "../workflows/workflow-text.ts";
import { fields, printLine, printRecord } from "../reporter.ts";

/** `pd describe <source or workflow>`. */
export async function describe(cli: CliContext, source: string): Promise<number> {
  const client = await connect(cli);
  const { kind, record } = await findDeployed(client, source);
  return printRecord(cli, record, () => printLine(cli, kind === "source" ? describedSource(record) : describedWorkflow(record)));
}

function describedSource(record: SourceRecord): string {
  const { registry, timers = [], configured_props: values } = record;
  return fields([
    ["id", record.id],
    ["name", record.name],
    ["slug", record.name_slug],
    ["version", record.component_version],
    ["active", record.active ? "yes" : "no"],
    ["endpoint", record.endpoint_url],
    ["dedupe", record.dedupe],
    ["variables", record.env.join(", ")],
    ["runs at once", record.max_concurrency],
    ["may start programs", record.allow_run === true ? "yes" : undefined],
    ["loaded before it", record.imports?.join(", ")],
    ["registry", registry === undefined ? undefined : `${registry.name} ${registry.package ?? registry.commit ?? ""}`.trim()],
    ...timers.map((timer): [string, string] => ["next run", nextRun(timer)]),
    ...Object.entries(values).map(([name, value]): [string, string] => [`prop ${name}`, JSON.stringify(value)]),
  ]);
}

function nextRun({ cron, timezone = "", intervalSeconds, next_at_ms: nextAt }: TimerRecord): string {
  const plan = cron === undefined ? `every ${intervalSeconds ?? ""} s` : `${cron} ${timezone}`;
  return `${nextAt === undefined ? "never" : new Date(nextAt).toISOString()} (${plan})`;
}
