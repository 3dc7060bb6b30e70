import type { AlertRecord } from "../../../api/alerts.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { findDeployed } from "../../deployed.ts";
import { type CliContext, connect } from "../../context.ts";
import { printLine, printRecord, printRecords } from "../../reporter.ts";

interface AddFlags {
  readonly mail?: boolean | undefined;
  readonly webhook?: string | undefined;
  readonly daily?: boolean | undefined;
}

export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await client.alerts.list(), {
    columns: ["id", "of", "to", "daily"],
    cells: (alert) => [alert.id, ofWhat(alert), alert.to, alert.daily ? "yes" : ""],
    none: "No alerts: pd alerts add --mail",
  });
}

/** Without a source, everything on the server. */
export async function add(cli: CliContext, source: string | undefined, { mail, webhook, daily = false }: AddFlags): Promise<number> {
  if ((mail === true) === (webhook !== undefined))
    throw new PdError("PD_BAD_INPUT", "Cannot add an alert: it needs one way to tell you", {
      fix: "Give --mail, or --webhook with an id, a name or an address",
    });
  const client = await connect(cli);
  const scope = source === undefined ? {} : { source_id: (await findDeployed(client, source)).record.id };
  const made = await client.alerts.create({ ...scope, via: webhook === undefined ? "mail" : await webhookOf(client, webhook), daily });
  return printRecord(cli, made, () => printLine(cli, `${made.id} tells ${made.to} about ${ofWhat(made)}; pd alerts test ${made.id} sends a test`));
}

/** An id or a name. A new webhook for an address that none has. */
async function webhookOf(client: Client, word: string): Promise<string> {
  const known = (await everyPage(client.webhooks.list)).find(({ id, name, url }) => word === id || word === name || word === url);
  if (known !== undefined) return known.id;
  if (/^https?:/.test(word)) return (await client.webhooks.create({ url: word, name: "Alerts" })).id;
  throw new PdError("PD_WEBHOOK_NOT_FOUND", `Cannot alert webhook ${JSON.stringify(word)}: none has this id or name`, {
    fix: "pd webhooks list, or give an address",
  });
}

export async function remove(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  return printRecord(cli, await client.alerts.delete(id), () => printLine(cli, `Deleted ${id}`));
}

/** Exit code 1 when it was not sent. */
export async function test(cli: CliContext, id: string): Promise<number> {
  const client = await connect(cli);
  const result = await client.alerts.test(id);
  printRecord(cli, result, () => printLine(cli, result.sent ? "Sent" : `Not sent: ${result.problem ?? ""}`));
  return result.sent ? 0 : 1;
}

function ofWhat({ source_id: id, source_name: name }: AlertRecord): string {
  return id === null ? "everything" : (name ?? id);
}
