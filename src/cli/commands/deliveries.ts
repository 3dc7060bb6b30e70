import type { AttemptAnswer, DeliveryRecord } from "../../api/deliveries.ts";
import { PdError } from "../../domain/errors.ts";
import { sinceOf } from "../since.ts";
import { type CliContext, connect } from "../context.ts";
import { clockTime, countOf, printLine, printRecord, printRecords, localTime } from "../reporter.ts";

interface DeliveryFlags {
  readonly failed?: boolean | undefined;
  readonly state?: string | undefined;
  readonly n: string;
}

const STATES: readonly DeliveryRecord["state"][] = ["pending", "delivered", "failed", "missed"];

/** `pd deliveries <webhook>` lists, `pd deliveries <delivery>` shows attempts. */
export function deliveries(cli: CliContext, what: string, flags: DeliveryFlags): Promise<number> {
  return what.startsWith("dlv_") ? showOne(cli, what) : list(cli, what, flags);
}

async function list(cli: CliContext, webhook: string, { failed, state: given, n }: DeliveryFlags): Promise<number> {
  const limit = Math.max(1, countOf(n));
  const state = failed === true ? "failed" : STATES.find((known) => known === given);
  if (given !== undefined && state === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --state ${JSON.stringify(given)}: there are ${STATES.join(", ")}`, { fix: "--state failed" });
  const client = await connect(cli);
  return printRecords(cli, await client.deliveries.ofWebhook(webhook, { limit, state }), {
    columns: ["id", "state", "attempts", "next", "emitter", "channel", "event"],
    cells: (delivery) => [
      delivery.id,
      delivery.state,
      delivery.attempt_count,
      delivery.next_attempt_at_ms === undefined ? "" : localTime(delivery.next_attempt_at_ms),
      delivery.emitter_id,
      delivery.event_name,
      JSON.stringify(delivery.event).slice(0, 60),
    ],
    none: "No such deliveries",
  });
}

async function showOne(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  const delivery = await client.deliveries.get(id);
  return printRecord(cli, delivery, () => {
    printLine(cli, `${delivery.id} ${delivery.state} ${delivery.message_id}`);
    for (const attempt of delivery.attempts ?? []) printLine(cli, attemptLine(attempt));
  });
}

function attemptLine({ at_ms: at, duration_ms: ms, status, answer = "", error = "" }: AttemptAnswer): string {
  return `${clockTime(at)}  ${ms} ms  ${status === undefined ? error : `status ${status} ${answer.slice(0, 200)}`}`;
}

/** `pd deliveries retry <delivery-or-webhook>`: delivers again. */
export async function retry(cli: CliContext, target: string, { since }: { since?: string | undefined }): Promise<number> {
  const sinceMs = since === undefined ? 0 : sinceOf(since);
  const client = await connect(cli);
  if (target.startsWith("dlv_")) return printRecord(cli, await client.deliveries.retry(target), () => printLine(cli, `${target} is delivered again`));
  const done = await client.deliveries.retryWebhook(target, { since_ms: sinceMs });
  return printRecord(cli, done, () => printLine(cli, `${done.retried === 1 ? "1 delivery is" : `${done.retried} deliveries are`} due now`));
}
