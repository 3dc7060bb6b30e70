import { PdError } from "../../domain/errors.ts";
import { dataOf, listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, printNote, table, text } from "../reporter.ts";

/** `pd keys list|create|revoke [name]`: named keys of a shared server. */
export async function keys(cli: CliContext, { verb, name }: { verb: string; name: string | undefined }): Promise<number> {
  if (verb === "list") return listKeys(cli);
  if (name === undefined || (verb !== "create" && verb !== "revoke"))
    throw new PdError("PD_BAD_INPUT", "Cannot tell what to do with keys", { fix: "pd keys list|create <name>|revoke <name>" });
  const client = await connect(cli);
  if (verb === "revoke") {
    const gone = dataOf(await client.delete(`/v1/api_keys/${encodeURIComponent(name)}`));
    if (cli.isJson) printJson(cli, gone);
    else printNote(cli, `Revoked ${name}`);
    return 0;
  }
  const made = dataOf(await client.post("/v1/api_keys", { name }));
  if (cli.isJson) printJson(cli, made);
  else printLine(cli, text(made, "key"));
  if (!cli.isJson) printNote(cli, `This key of ${name} is shown only now; pd login --base-url ${client.baseUrl} takes it`);
  return 0;
}

async function listKeys(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const found = listOf(await client.get("/v1/api_keys"));
  if (cli.isJson) printJson(cli, [...found]);
  else
    printLine(
      cli,
      table(
        ["name", "id", "created"],
        found.map((key) => [text(key, "name"), text(key, "id"), new Date(Number(key["created_at"]) * 1000).toISOString()]),
      ),
    );
  return 0;
}
