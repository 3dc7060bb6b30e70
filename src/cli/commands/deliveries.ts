import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { dataOf, listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { clockTime, countOf, printLine, printRecord, printRecords, text } from "../reporter.ts";

export interface DeliveryFlags {
  readonly failed?: boolean;
  readonly state?: string;
  readonly since?: string;
  readonly n?: string;
}

/** `pd deliveries <webhook>` lists, `pd deliveries <delivery>` shows attempts, `pd deliveries retry <delivery-or-webhook>` delivers again. */
export async function deliveries(cli: CliContext, { what, target }: { what: string; target: string | undefined }, flags: DeliveryFlags): Promise<number> {
  if (what === "retry") return retry(cli, target, flags);
  return what.startsWith("dlv_") ? showOne(cli, what) : list(cli, what, flags);
}

async function list(cli: CliContext, webhook: string, { failed, state, n = "20" }: DeliveryFlags): Promise<number> {
  const limit = countOf(n);
  const client = await connect(cli);
  const wanted = failed === true ? "failed" : state;
  const query = new URLSearchParams({ limit: String(Math.max(1, limit)), ...(wanted === undefined ? {} : { state: wanted }) }).toString();
  const found = listOf(await client.get(`/v1/webhooks/${encodeURIComponent(webhook)}/deliveries?${query}`));
  return printRecords(cli, found, {
    columns: ["id", "state", "attempts", "next", "emitter", "channel", "event"],
    cells: (delivery) => [
      text(delivery, "id"),
      text(delivery, "state"),
      text(delivery, "attempt_count"),
      delivery["next_attempt_at_ms"] === undefined ? "" : new Date(Number(delivery["next_attempt_at_ms"])).toISOString(),
      text(delivery, "emitter_id"),
      text(delivery, "event_name"),
      JSON.stringify(delivery["event"] ?? null).slice(0, 60),
    ],
    none: "No such deliveries",
  });
}

async function showOne(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  const delivery = dataOf(await client.get(`/v1/deliveries/${encodeURIComponent(id)}`));
  return printRecord(cli, delivery, () => {
    printLine(cli, `${text(delivery, "id")} ${text(delivery, "state")} ${text(delivery, "message_id")}`);
    const attempts = Array.isArray(delivery["attempts"]) ? delivery["attempts"].filter(isJsonObject) : [];
    for (const attempt of attempts) printLine(cli, attemptLine(attempt));
  });
}

function attemptLine(attempt: JsonObject): string {
  const result = attempt["status"] === undefined ? text(attempt, "error") : `status ${text(attempt, "status")} ${text(attempt, "answer").slice(0, 200)}`;
  return `${clockTime(Number(attempt["at_ms"]))}  ${text(attempt, "duration_ms")} ms  ${result}`;
}

async function retry(cli: CliContext, target: string | undefined, { since }: DeliveryFlags): Promise<number> {
  if (target === undefined) throw new PdError("PD_BAD_INPUT", "Cannot retry: no delivery and no webhook is named", { fix: "pd deliveries retry <dlv_…|wh_…>" });
  const sinceMs = since === undefined ? 0 : sinceOf(since);
  const client = await connect(cli);
  const path = target.startsWith("dlv_") ? `/v1/deliveries/${encodeURIComponent(target)}/retry` : `/v1/webhooks/${encodeURIComponent(target)}/deliveries/retry`;
  const done = dataOf(await client.post(path, target.startsWith("dlv_") ? {} : { since_ms: sinceMs }));
  const line = done["retried"] === undefined ? `${target} is delivered again` : `${text(done, "retried")} are delivered again`;
  return printRecord(cli, done, () => printLine(cli, line));
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `2h`, or a date. Throws PD_BAD_INPUT. */
function sinceOf(given: string): number {
  const span = /^(\d+)([smhd])$/.exec(given);
  const at = span === null ? Date.parse(given) : Date.now() - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  if (!Number.isNaN(at)) return at;
  throw new PdError("PD_BAD_INPUT", `Cannot use --since ${JSON.stringify(given)}: it wants a time such as 2h, 3d or 2026-01-31T12:00:00Z`, {
    fix: "--since 2h",
  });
}
