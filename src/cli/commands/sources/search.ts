import { findDeployed } from "../../deployed.ts";
import { sinceOf } from "../../since.ts";
import { type CliContext, connect } from "../../context.ts";
import { countOf, localTime, printRecords } from "../../reporter.ts";

interface SearchFlags {
  readonly of?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly events?: boolean | undefined;
  readonly since?: string | undefined;
  readonly n: string;
}

export async function search(cli: CliContext, words: readonly string[], { of, failed = false, events = false, since, n }: SearchFlags): Promise<number> {
  const client = await connect(cli);
  const found = await client.search.find({
    q: words.join(" "),
    failed,
    limit: Math.max(1, Math.min(100, countOf(n))),
    ...(events ? { kind: "event" } : {}),
    ...(of === undefined ? {} : { source_id: (await findDeployed(client, of)).record.id }),
    ...(since === undefined ? {} : { since_ms: sinceOf(since) }),
  });
  return printRecords(cli, found, {
    columns: ["at", "kind", "id", "of", "text"],
    cells: ({ at_ms: at, kind, id, source_id: source, source_name: name = source, failed: hasFailed, snippet }) => [
      localTime(at),
      hasFailed ? "failed run" : kind,
      id,
      name,
      snippet.replaceAll(/\s+/g, " ").slice(0, 80),
    ],
    none: "Nothing was found",
  });
}
