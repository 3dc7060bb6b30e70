import { PdError } from "../../domain/errors.ts";
import { dataOf, listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

/** `pd keys list|create|revoke [name]`: named keys of a shared server. */
export async function keys(cli: CliContext, { verb, name }: { verb: string; name: string | undefined }): Promise<number> {
  if (verb === "list") return listKeys(cli);
  if (name === undefined || (verb !== "create" && verb !== "revoke"))
    throw new PdError("PD_BAD_INPUT", "Cannot tell what to do with keys", { fix: "pd keys list|create <name>|revoke <name>" });
  const client = await connect(cli);
  if (verb === "revoke") {
    const gone = dataOf(await client.delete(`/v1/api_keys/${encodeURIComponent(name)}`));
    return printRecord(cli, gone, () => printNote(cli, `Revoked ${name}`));
  }
  const made = dataOf(await client.post("/v1/api_keys", { name }));
  return printRecord(cli, made, () => {
    printLine(cli, text(made, "key"));
    printNote(cli, `This key of ${name} is shown only now; pd login --base-url ${client.baseUrl} takes it`);
  });
}

async function listKeys(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, listOf(await client.get("/v1/api_keys")), {
    columns: ["name", "id", "created"],
    cells: (key) => [text(key, "name"), text(key, "id"), new Date(Number(key["created_at"]) * 1000).toISOString()],
    none: "No named keys: pd keys create <name>",
  });
}
