import { type CliContext, connect } from "../context.ts";
import { printLine, printRecord } from "../reporter.ts";

/** `pd delete <source>`: runs deactivate, then the source is gone with its events; `--force` even when the hook throws. */
export async function remove(cli: CliContext, source: string, { force }: { force?: boolean | undefined }): Promise<number> {
  const client = await connect(cli);
  const { id, name_slug: slug } = await client.sources.get(source);
  const deleted = await client.sources.delete(id, { force: force === true });
  return printRecord(cli, deleted, () => printLine(cli, `Deleted ${slug} (${id})`));
}
