import type { SourceRecord, TimerRecord } from "../../../api/sources.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { type JsonValue, isJsonObject } from "../../../domain/text/json.ts";
import { describeSchedule, parseTimer } from "../../../domain/timer/schedule.ts";
import { settingRows } from "../../../domain/source-settings/read-settings.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { type AccountNames, accountText, describedWorkflow } from "../../workflows/workflow-text.ts";
import { fields, localTime, printLine, printRecord } from "../../reporter.ts";

export async function describe(cli: CliContext, source: string): Promise<number> {
  const client = await connect(cli);
  const { kind, record } = await findDeployed(client, source);
  const accounts = cli.isJson ? new Map<string, string>() : await accountNames(client);
  return printRecord(cli, record, () => printLine(cli, kind === "source" ? describedSource(record, accounts) : describedWorkflow(record, accounts)));
}

/** The hosted platform may not list accounts. */
async function accountNames(client: Client): Promise<AccountNames> {
  try {
    return new Map((await everyPage(client.accounts.list)).map(({ id, name }) => [id, name]));
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_NOT_FOUND") return new Map();
    throw error;
  }
}

function describedSource(record: SourceRecord, accounts: AccountNames): string {
  const { registry, timers = [], configured_props: values, problems = [], warnings = [] } = record;
  return fields([
    ["id", record.id],
    ["name", record.name],
    ["slug", record.name_slug],
    ["version", record.component_version],
    ["active", record.active ? "yes" : "no"],
    ["endpoint", record.endpoint_url],
    ["dedupe", record.dedupe],
    ["variables", record.env.join(", ")],
    ...settingRows(record),
    ["imports", record.imports?.join(", ")],
    ["registry", registry === undefined ? undefined : `${registry.name} ${registry.package ?? registry.commit ?? ""}`.trim()],
    ...timers.map((timer): [string, string] => ["next run", nextRun(timer)]),
    ...[...problems, ...warnings].map((text): [string, string] => ["problem", text]),
    ...Object.entries(values).map(([name, value]): [string, string] => [`prop ${name}`, valueText(record, { name, value: value ?? null }, accounts)]),
  ]);
}

function nextRun({ cron, timezone, intervalSeconds, next_at_ms: nextAt }: TimerRecord): string {
  const plan = scheduleText(cron === undefined ? { intervalSeconds: intervalSeconds ?? 0 } : { cron, timezone: timezone ?? "UTC" });
  return `${nextAt === undefined ? "never" : localTime(nextAt)} (${plan})`;
}

function valueText({ configurable_props: props }: SourceRecord, { name, value }: { name: string; value: JsonValue }, accounts: AccountNames): string {
  const type = props.find((prop) => prop.name === name)?.type;
  if (type === "$.interface.timer") return scheduleText(value);
  const id = type === "app" && isJsonObject(value) ? value["authProvisionId"] : undefined;
  return typeof id === "string" ? accountText(id, accounts) : JSON.stringify(value);
}

/** The API may return null members. */
function scheduleText(value: JsonValue): string {
  const { cron, timezone, interval_seconds: shown, intervalSeconds = shown } = isJsonObject(value) ? value : {};
  const parsed = parseTimer(cron === undefined || cron === null ? { intervalSeconds } : { cron, ...(timezone === undefined ? {} : { timezone }) });
  return typeof parsed === "string" ? JSON.stringify(value) : describeSchedule(parsed.schedule);
}
