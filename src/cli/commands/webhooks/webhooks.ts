import type { WebhookParams, WebhookRecord } from "../../../api/webhooks.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { givenEvent } from "../../code/prop-flags.ts";
import { isAgreed } from "../../ask/agree.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { fields, printJson, printLine, printNote, printRecord, printRecords, localTime } from "../../reporter.ts";

interface NameFlags {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

interface ListFlags {
  readonly wide?: boolean | undefined;
}

export interface WebhookFlags extends NameFlags {
  readonly url?: string | undefined;
  readonly activate?: boolean | undefined;
  readonly deactivate?: boolean | undefined;
  readonly replayMissed?: boolean | undefined;
}

export async function list(cli: CliContext, { wide: isWide = false }: ListFlags): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await everyPage(client.webhooks.list), {
    isWide,
    columns: ["id", "active", "pending", "failed", "missed", "url", "name"],
    cells: ({ id, active, deliveries: { pending, failed, missed }, url, name }) => [id, active ? "yes" : "no", pending, failed, missed, url, name ?? ""],
    none: "No webhooks yet: pd subscribe <source> <url>",
  });
}

export async function create(cli: CliContext, url: string, { name, description }: NameFlags): Promise<number> {
  const client = await connect(cli);
  return showMade(cli, await client.webhooks.create({ url, name, description }));
}

export async function show(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  const webhook = await client.webhooks.get(id);
  return printRecord(cli, webhook, () =>
    printLine(
      cli,
      fields([
        ["id", webhook.id],
        ["url", webhook.url],
        ["name", webhook.name],
        ["description", webhook.description],
        ["active", webhook.active ? "yes" : "no"],
        ["inactive because", webhook.inactive_reason],
        ["failing since", webhook.failing_since_ms === undefined ? undefined : localTime(webhook.failing_since_ms)],
        ...Object.entries(webhook.deliveries).map(([state, count]): [string, string] => [state, String(count)]),
      ]),
    ),
  );
}

export async function update(cli: CliContext, id: string, flags: WebhookFlags): Promise<number> {
  const change = changeOf(flags);
  const client = await connect(cli);
  const webhook = await client.webhooks.update(id, change);
  const { active, replayed, deliveries } = webhook;
  return printRecord(cli, webhook, () => {
    printLine(cli, `Updated ${webhook.id}${replayed === undefined ? "" : `; ${replayed} missed deliveries are due now`}`);
    if (active && deliveries.missed > 0)
      printNote(cli, `It missed ${deliveries.missed} while it was inactive: pd webhooks update ${webhook.id} --replay-missed delivers them`);
  });
}

function changeOf({ name, description, url, activate, deactivate, replayMissed }: WebhookFlags): WebhookParams {
  if (activate === true && deactivate === true)
    throw new PdError("PD_BAD_INPUT", "Cannot both activate and deactivate", { fix: "Give one of --activate and --deactivate" });
  const active = activate === true ? true : deactivate === true ? false : undefined;
  const change: WebhookParams = { name, description, url, active, replay_missed: replayMissed };
  if (Object.values(change).some((value) => value !== undefined)) return change;
  throw new PdError("PD_BAD_INPUT", "Cannot update the webhook: nothing to change is given", {
    fix: "Give --url, --name, --description, --activate, --deactivate or --replay-missed",
  });
}

export async function remove(cli: CliContext, id: string, { yes }: { yes?: boolean | undefined }): Promise<number> {
  if (!(await isAgreed(cli, { yes, question: `Delete ${id} with its subscriptions and deliveries?`, attempted: `delete ${id}` }))) return 1;
  const client = await connect(cli);
  return printRecord(cli, await client.webhooks.delete(id), () => printLine(cli, `Deleted ${id}`));
}

export async function rotate(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  return showMade(cli, await client.webhooks.rotate(id));
}

/** Exit code 0 when the receiver accepts. */
export async function test(cli: CliContext, id: string, { event: given }: { event?: string | undefined }): Promise<number> {
  const event = given === undefined ? undefined : await givenEvent(cli, given);
  const client = await connect(cli);
  const attempt = await client.webhooks.test(id, { event });
  const { status, error = "", duration_ms: ms } = attempt;
  if (cli.isJson) printJson(cli, attempt);
  else printLine(cli, `${status === undefined ? error : `status ${status}`} in ${ms} ms`);
  return status !== undefined && status >= 200 && status < 300 ? 0 : 1;
}

interface SubscribeFlags {
  readonly channel?: string | undefined;
  readonly name?: string | undefined;
}

export async function subscribe(cli: CliContext, { source, url }: { source: string; url: string }, { channel = "", name }: SubscribeFlags): Promise<number> {
  const client = await connect(cli);
  const emitter = source.endsWith("_*") ? source : (await findDeployed(client, source)).record.id;
  const webhook = await client.webhooks.create({ url, name });
  await subscribeOrUndo(client, webhook, { emitter, channel });
  if (!cli.isJson) printNote(cli, `${source} is now delivered to ${webhook.url}`);
  return showMade(cli, webhook);
}

async function subscribeOrUndo(client: Client, { id }: WebhookRecord, { emitter, channel }: { emitter: string; channel: string }): Promise<void> {
  try {
    await client.subscriptions.create({ emitter_id: emitter, listener_id: id, event_name: channel });
  } catch (error) {
    await client.webhooks.delete(id);
    throw error;
  }
}

function showMade(cli: CliContext, webhook: WebhookRecord): number {
  return printRecord(cli, webhook, () =>
    printLine(
      cli,
      fields([
        ["Webhook", webhook.id],
        ["URL", webhook.url],
        ["Signing key", webhook.signing_key],
      ]),
    ),
  );
}
