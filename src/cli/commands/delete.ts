import { dataOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, text } from "../reporter.ts";

/** `pd delete <source>`: runs deactivate, then the source is gone with its events; `--force` even when the hook throws. */
export async function remove(cli: CliContext, source: string, { force }: { force?: boolean }): Promise<number> {
  const client = await connect(cli);
  const record = await client.source(source);
  const deleted = await client.delete(`/v1/sources/${text(record, "id")}${force === true ? "?force=1" : ""}`).then(dataOf);
  if (cli.isJson) printJson(cli, deleted);
  else printLine(cli, `Deleted ${text(record, "name_slug")} (${text(record, "id")})`);
  return 0;
}
