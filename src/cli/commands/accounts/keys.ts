import { type CliContext, connect } from "../../context.ts";
import { localTime, printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await client.keys.list(), {
    columns: ["name", "id", "may", "created"],
    cells: ({ name, id, read_only: isReadOnly, created_at: at }) => [name, id, isReadOnly ? "read" : "read and change", localTime(at * 1000)],
    none: "No named keys: pd keys create <name>",
  });
}

export async function create(cli: CliContext, name: string, { readOnly = false }: { readOnly?: boolean | undefined }): Promise<number> {
  const client = await connect(cli);
  const made = await client.keys.create({ name, read_only: readOnly });
  return printRecord(cli, made, () => {
    printLine(cli, made.key ?? "");
    printNote(cli, `This key of ${name} is shown only once; log in with pd login --base-url ${client.connection.baseUrl}`);
  });
}

export async function revoke(cli: CliContext, name: string): Promise<number> {
  const client = await connect(cli);
  return printRecord(cli, await client.keys.revoke(name), () => printNote(cli, `Revoked ${name}`));
}
