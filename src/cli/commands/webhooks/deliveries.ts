import type { AttemptAnswer, DeliveryRecord } from "../../../api/deliveries.ts";
import { PdError } from "../../../domain/errors.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { findDeployed } from "../../deployed.ts";
import { sinceOf } from "../../since.ts";
import { refuseGiven } from "../refuse-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { clockTime, countOf, printLine, printRecord, printRecords, localTime } from "../../reporter.ts";

interface DeliveryFlags {
  readonly failed?: boolean | undefined;
  readonly state?: string | undefined;
  readonly n: string;
}

const STATES: readonly DeliveryRecord["state"][] = ["pending", "delivered", "failed", "missed"];

/** For a delivery, prints its attempts. */
export async function deliveries(cli: CliContext, what: string, flags: DeliveryFlags): Promise<number> {
  if (!what.startsWith("dlv_")) return list(cli, what, flags);
  refuseGiven({ failed: flags.failed, state: flags.state }, `it selects among deliveries, and ${what} is a single one`);
  return showOne(cli, what);
}

interface Listener {
  readonly kind: "webhook" | "source";
  readonly id: string;
}

/** A source or workflow, else a webhook by id or name. */
async function listenerOf(client: Client, what: string): Promise<Listener> {
  if (what.startsWith("wh_")) return { kind: "webhook", id: what };
  try {
    return { kind: "source", id: (await findDeployed(client, what)).record.id };
  } catch (error) {
    if (!(error instanceof PdError) || error.code !== "PD_SOURCE_NOT_FOUND") throw error;
    const webhook = (await everyPage(client.webhooks.list)).find(({ name }) => name === what);
    if (webhook !== undefined) return { kind: "webhook", id: webhook.id };
    const message = `${error.message}, and no webhook has this id or name`;
    throw new PdError(error.code, message, { fix: "pd webhooks list shows webhooks, pd list sources", cause: error });
  }
}

async function list(cli: CliContext, what: string, { failed, state: given, n }: DeliveryFlags): Promise<number> {
  const limit = Math.max(1, countOf(n));
  if (failed === true && given !== undefined && given !== "failed")
    throw new PdError("PD_BAD_INPUT", `Cannot use --failed with --state ${given}: both select deliveries by state`, { fix: "Give one of them" });
  const state = failed === true ? "failed" : STATES.find((known) => known === given);
  if (given !== undefined && state === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --state ${JSON.stringify(given)}: expected ${STATES.join(", ")}`, { fix: "--state failed" });
  const client = await connect(cli);
  const listener = await listenerOf(client, what);
  const ask = listener.kind === "webhook" ? client.deliveries.ofWebhook : client.deliveries.ofSource;
  const found = await ask(listener.id, { limit, state });
  return printRecords(cli, found, {
    columns: ["id", "state", "attempts", "next", "emitter", "channel", "event"],
    cells: (delivery) => [
      delivery.id,
      delivery.state,
      delivery.attempt_count,
      delivery.next_attempt_at_ms === undefined ? "" : localTime(delivery.next_attempt_at_ms),
      delivery.emitter_name ?? delivery.emitter_id,
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

export async function retry(cli: CliContext, target: string, { since }: { since?: string | undefined }): Promise<number> {
  const sinceMs = since === undefined ? 0 : sinceOf(since);
  const client = await connect(cli);
  if (target.startsWith("dlv_")) refuseGiven({ since }, `it selects among deliveries, and ${target} is a single one`);
  if (target.startsWith("dlv_")) return printRecord(cli, await client.deliveries.retry(target), () => printLine(cli, `${target} is due now`));
  const listener = await listenerOf(client, target);
  const which = { since_ms: sinceMs };
  const done = await (listener.kind === "webhook" ? client.deliveries.retryWebhook(listener.id, which) : client.deliveries.retrySource(listener.id, which));
  return printRecord(cli, done, () => printLine(cli, `${done.retried === 1 ? "1 delivery is" : `${done.retried} deliveries are`} due now`));
}
