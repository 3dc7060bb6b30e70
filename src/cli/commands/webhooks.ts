import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";
import { type ApiClient, dataOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { readText } from "../prop-flags.ts";
import { fields, printJson, printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

export interface WebhookFlags {
  readonly name?: string;
  readonly description?: string;
  readonly url?: string;
  readonly activate?: boolean;
  readonly deactivate?: boolean;
  readonly replayMissed?: boolean;
  readonly event?: string;
}

/** `pd webhooks list|show|create|update|delete|test|rotate [id-or-url]`. */
export async function webhooks(cli: CliContext, { verb, target }: { verb: string; target: string | undefined }, flags: WebhookFlags): Promise<number> {
  if (verb === "list") return listWebhooks(cli, await connect(cli));
  if (!["show", "create", "update", "delete", "test", "rotate"].includes(verb) || target === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot tell what to do with webhooks", {
      fix: "pd webhooks list, or show|create|update|delete|test|rotate with an id or address",
    });
  const change = verb === "update" ? changeOf(flags) : {};
  const client = await connect(cli);
  const path = `/v1/webhooks/${encodeURIComponent(target)}`;
  switch (verb) {
    case "create":
      return showMade(cli, await makeWebhook(client, target, flags));
    case "update":
      return showChanged(cli, dataOf(await client.put(path, change)));
    case "delete":
      return show(cli, dataOf(await client.delete(path)), `Deleted ${target}`);
    case "rotate":
      return showMade(cli, dataOf(await client.post(`${path}/rotate`)));
    case "test":
      return showTest(cli, dataOf(await client.post(`${path}/test`, await testEvent(flags))));
    default:
      return showWebhook(cli, dataOf(await client.get(path)));
  }
}

/** `pd subscribe <source> <url>`: a webhook and its subscription in one. */
export async function subscribe(
  cli: CliContext,
  { source, url }: { source: string; url: string },
  { channel, name }: { channel?: string; name?: string },
): Promise<number> {
  const client = await connect(cli);
  const emitter = source.endsWith("_*") ? source : text(await client.source(source), "id");
  const webhook = await makeWebhook(client, url, name === undefined ? {} : { name });
  const id = text(webhook, "id");
  await client.post("/v1/subscriptions", { emitter_id: emitter, listener_id: id, event_name: channel ?? "" }).catch(async (error: unknown) => {
    // Both or none.
    await client.delete(`/v1/webhooks/${id}`);
    throw error;
  });
  if (!cli.isJson) printNote(cli, `${source} is delivered to ${text(webhook, "url")} from now on`);
  return showMade(cli, webhook);
}

async function makeWebhook(client: ApiClient, url: string, { name, description }: WebhookFlags): Promise<JsonObject> {
  return dataOf(await client.post("/v1/webhooks", { url, ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }));
}

function changeOf({ name, description, url, activate, deactivate, replayMissed }: WebhookFlags): JsonObject {
  if (activate === true && deactivate === true)
    throw new PdError("PD_BAD_INPUT", "Cannot both activate and deactivate", { fix: "Give one of --activate and --deactivate" });
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(url === undefined ? {} : { url }),
    ...(activate === true ? { active: true } : deactivate === true ? { active: false } : {}),
    ...(replayMissed === true ? { replay_missed: true } : {}),
  };
  if (Object.keys(change).length > 0) return change;
  throw new PdError("PD_BAD_INPUT", "Cannot update the webhook: nothing to change is given", {
    fix: "Give --url, --name, --description, --activate, --deactivate or --replay-missed",
  });
}

async function testEvent({ event }: WebhookFlags): Promise<JsonObject> {
  if (event === undefined) return {};
  const value = parseJson(await readText(event));
  if (value === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use ${event} as the event: it is not JSON`, { fix: "Give a file that holds one JSON value" });
  return { event: value };
}

async function listWebhooks(cli: CliContext, client: ApiClient): Promise<number> {
  const found = await client.all("/v1/users/me/webhooks");
  return printRecords(cli, found, {
    columns: ["id", "active", "pending", "failed", "missed", "url", "name"],
    cells: (webhook) => [
      text(webhook, "id"),
      webhook["active"] === true ? "yes" : "no",
      ...["pending", "failed", "missed"].map((state) => text(countsOf(webhook), state)),
      text(webhook, "url"),
      text(webhook, "name"),
    ],
    none: "No webhooks yet: pd subscribe <source> <url>",
  });
}

function countsOf(webhook: JsonObject): JsonObject {
  return isJsonObject(webhook["deliveries"]) ? webhook["deliveries"] : {};
}

function showWebhook(cli: CliContext, webhook: JsonObject): number {
  return printRecord(cli, webhook, () =>
    printLine(
      cli,
      fields([
        ["id", webhook["id"]],
        ["url", webhook["url"]],
        ["name", webhook["name"]],
        ["description", webhook["description"]],
        ["active", webhook["active"] === true ? "yes" : "no"],
        ["inactive because", webhook["inactive_reason"]],
        ["failing since", webhook["failing_since_ms"] === undefined ? undefined : new Date(Number(webhook["failing_since_ms"])).toISOString()],
        ...Object.entries(countsOf(webhook)).map(([state, count]): [string, string] => [state, String(count)]),
      ]),
    ),
  );
}

function showMade(cli: CliContext, webhook: JsonObject): number {
  return printRecord(cli, webhook, () =>
    printLine(
      cli,
      fields([
        ["Webhook", webhook["id"]],
        ["URL", webhook["url"]],
        ["Signing key", webhook["signing_key"]],
      ]),
    ),
  );
}

/** What was missed while it was inactive is offered when it is active again. */
function showChanged(cli: CliContext, webhook: JsonObject): number {
  if (cli.isJson) printJson(cli, webhook);
  else
    printLine(
      cli,
      `Updated ${text(webhook, "id")}${webhook["replayed"] === undefined ? "" : `; ${text(webhook, "replayed")} that it missed are delivered now`}`,
    );
  const missed = Number(countsOf(webhook)["missed"] ?? 0);
  if (!cli.isJson && webhook["active"] === true && missed > 0)
    printNote(cli, `It missed ${missed} while it was inactive: pd webhooks update ${text(webhook, "id")} --replay-missed delivers them`);
  return 0;
}

function showTest(cli: CliContext, attempt: JsonObject): number {
  const isOk = Number(attempt["status"]) >= 200 && Number(attempt["status"]) < 300;
  if (cli.isJson) printJson(cli, attempt);
  else
    printLine(cli, `${attempt["status"] === undefined ? text(attempt, "error") : `status ${text(attempt, "status")}`} in ${text(attempt, "duration_ms")} ms`);
  return isOk ? 0 : 1;
}

function show(cli: CliContext, record: JsonObject, line: string): number {
  return printRecord(cli, record, () => printLine(cli, line));
}
