import { PdError } from "../../domain/errors.ts";
import { listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printLine, printRecord, printRecords, text } from "../reporter.ts";

interface SubscriptionCall {
  readonly verb: string;
  readonly emitter: string | undefined;
  readonly listener: string | undefined;
  readonly channel: string;
}

/** `pd subscriptions list`, or `create|delete <emitter> <listener>`. */
export async function subscriptions(cli: CliContext, { verb, emitter, listener, channel }: SubscriptionCall): Promise<number> {
  if (verb === "list") return list(cli);
  if ((verb !== "create" && verb !== "delete") || emitter === undefined || listener === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot tell what to do with subscriptions", { fix: "pd subscriptions list, or create|delete <emitter> <listener>" });
  const client = await connect(cli);
  const idOf = async (name: string): Promise<string> => (/^(dc|p|wh|o|u)_/.test(name) ? name : text(await client.source(name), "id"));
  const which = { emitter_id: await idOf(emitter), listener_id: await idOf(listener), event_name: channel };
  const answer =
    verb === "create" ? await client.post("/v1/subscriptions", which) : await client.delete(`/v1/subscriptions?${new URLSearchParams(which).toString()}`);
  const [made] = listOf(answer);
  const line = made === undefined ? "Ended the subscription" : `Subscribed ${which.listener_id} to ${which.emitter_id} (${text(made, "id")})`;
  return printRecord(cli, made ?? { ...which, deleted: true }, () => printLine(cli, line));
}

async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const found = listOf(await client.get("/v1/users/me/subscriptions"));
  return printRecords(cli, found, {
    columns: ["id", "emitter", "listener", "channel"],
    cells: (entry) => ["id", "emitter_id", "listener_id", "event_name"].map((name) => text(entry, name)),
    none: "No subscriptions yet: pd subscribe <source> <url>",
  });
}
