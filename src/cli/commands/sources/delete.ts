import { isAgreed } from "../../ask/agree.ts";
import { type CliContext, connect } from "../../context.ts";
import { findExactly } from "../../deployed.ts";
import { printLine, printRecord } from "../../reporter.ts";

/** `--force`: even when the deactivate hook throws. */
export async function remove(cli: CliContext, source: string, { force, yes }: { force?: boolean | undefined; yes?: boolean | undefined }): Promise<number> {
  const client = await connect(cli);
  const { kind, record } = await findExactly(client, source);
  const { id, name_slug: slug } = record;
  const question = `Delete ${slug} (${id}) with ${kind === "source" ? "its events, runs and state" : "its triggers and runs"}?`;
  if (!(await isAgreed(cli, { yes, question, attempted: `delete ${slug}` }))) return 1;
  const deleted = await (kind === "source" ? client.sources.delete(id, { force: force === true }) : client.workflows.delete(id));
  return printRecord(cli, deleted, () => printLine(cli, `Deleted ${slug} (${id})`));
}
