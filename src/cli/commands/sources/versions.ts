import { fileLines } from "../../transfer/transfer-plan.ts";
import type { Client } from "../../../client/client.ts";
import { differenceOf } from "../../../domain/text/text-difference.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed, noHooks } from "../../deployed.ts";
import { localTime, printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

/** Compares when a number is given, by default with the current version. */
export async function versions(cli: CliContext, source: string, [number, other]: readonly (string | undefined)[]): Promise<number> {
  const client = await connect(cli);
  const { kind, record } = await findDeployed(client, source);
  if (kind === "workflow") return workflowVersions(cli, client, { id: record.id, numbers: [number, other] });
  if (number !== undefined) {
    const against = other === undefined ? {} : { against: Number(other) };
    const shown = await client.sources.version(source, number, against);
    return printRecord(cli, shown, () => {
      const lines = [...shown.package_changes, ...fileLines(shown.changes)];
      if (lines.length === 0) return printNote(cli, `Versions ${shown.against} and ${shown.number} are the same`);
      printNote(cli, `From version ${shown.against} to ${shown.number}:`);
      for (const line of lines) printLine(cli, line);
    });
  }
  return printRecords(cli, await client.sources.versions(source), {
    columns: ["version", "since", "of component", "code", ""],
    cells: ({ number: count, since_ms: since, component_version: declared, code_hash: hash, current, same_as: sameAs }) => [
      String(count),
      localTime(since),
      declared,
      hash.slice(0, 7),
      [...(current ? ["runs now"] : []), ...(sameAs === undefined ? [] : [`same as ${sameAs}`])].join(", "),
    ],
    none: "No versions are stored",
  });
}

export async function rollback(
  cli: CliContext,
  [source, version]: readonly [string, string | undefined],
  { force = false }: { force?: boolean | undefined },
): Promise<number> {
  const client = await connect(cli);
  const { kind, record: before } = await findDeployed(client, source);
  if (kind === "workflow" && force) throw noHooks(source);
  const calls = kind === "source" ? client.sources : client.workflows;
  const after = await calls.rollback(before.id, { ...(version === undefined ? {} : { version }), ...(force ? { force } : {}) });
  const kept = await calls.versions(after.id);
  const sameAs = kept.find(({ current }) => current)?.same_as;
  return printRecord(cli, after, () =>
    printLine(
      cli,
      `Rolled ${after.name_slug} back from version ${before.version}: it runs version ${after.version}${sameAs === undefined ? "" : `, the same as ${sameAs}`}`,
    ),
  );
}

async function workflowVersions(
  cli: CliContext,
  client: Client,
  { id, numbers: [number, other] }: { id: string; numbers: readonly (string | undefined)[] },
): Promise<number> {
  if (number === undefined)
    return printRecords(cli, await client.workflows.versions(id), {
      columns: ["version", "since", "files", ""],
      cells: ({ number: count, since_ms: since, code_hash: hash, current, same_as: sameAs }) => [
        String(count),
        localTime(since),
        hash.slice(0, 7),
        [...(current ? ["runs now"] : []), ...(sameAs === undefined ? [] : [`same as ${sameAs}`])].join(", "),
      ],
      none: "No versions are stored",
    });
  const shown = await client.workflows.files(id, { version: number });
  const against = await client.workflows.files(id, other === undefined ? {} : { version: other });
  return printRecord(cli, shown, () => {
    const lines = fileLines(differenceOf(against.files, shown.files));
    if (lines.length === 0) return printNote(cli, `Versions ${against.version} and ${shown.version} are the same`);
    printNote(cli, `From version ${against.version} to ${shown.version}:`);
    for (const line of lines) printLine(cli, line);
  });
}
