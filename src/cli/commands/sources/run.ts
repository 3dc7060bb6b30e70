import { coloursFor } from "../../colours.ts";
import type { RehearsalRecord } from "../../../api/invocations.ts";
import { sentenceOf } from "../../../client/rehearsal-text.ts";
import { PdError } from "../../../domain/errors.ts";
import { isSameJson } from "../../../domain/text/json.ts";
import { givenEvent, givenEventObject } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { printJson, printLine, printNote, timelineLine } from "../../reporter.ts";
import { printInvocation } from "../invocation-lines.ts";
import { runWorkflow } from "../workflows/workflows.ts";

interface RunFlags {
  readonly event?: string | undefined;
  readonly sample?: boolean | undefined;
}

/** Exit code 1 when the run failed. */
export async function run(cli: CliContext, source: string, { event: given, sample }: RunFlags): Promise<number> {
  const client = await connect(cli);
  const { kind, record } = await findDeployed(client, source);
  const { id } = record;
  if (kind === "workflow" && sample !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --sample with the workflow ${record.name_slug}: it is for sources`, { fix: "Give it an event with --event" });
  if (kind === "workflow") return runWorkflow(cli, client, { id, event: given === undefined ? undefined : await givenEventObject(cli, given) });
  if (given !== undefined && sample !== undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot use --event with --sample: --sample emits the component's example, and runs nothing", {
      fix: "Leave one of them out",
    });
  const event = given === undefined ? undefined : await givenEvent(cli, given);
  return printInvocation(cli, await client.sources.run(id, { event, sample }));
}

/** The same trigger with the current code. `--dry` stores nothing. */
export async function replay(cli: CliContext, source: string, { id, dry = false }: { id: string; dry?: boolean | undefined }): Promise<number> {
  const client = await connect(cli);
  const { id: sourceId } = await client.sources.get(source);
  const before = await client.invocations.get(id);
  if (before.source_id !== sourceId) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot replay "${id}": it does not belong to ${source}`);
  return dry ? printRehearsal(cli, await client.invocations.rehearse(id)) : printInvocation(cli, await client.invocations.replay(id));
}

function printRehearsal(cli: CliContext, rehearsal: RehearsalRecord): number {
  const { after, state } = rehearsal;
  const colours = coloursFor(cli.stdout, cli);
  if (cli.isJson) printJson(cli, rehearsal);
  else {
    for (const line of after.logs) printLine(cli, timelineLine(line, colours) ?? "");
    for (const line of eventLines(rehearsal)) printLine(cli, line);
    for (const { key, before: old, after: next } of state)
      printLine(cli, `~ state ${key}: ${JSON.stringify(old) ?? "nothing"} → ${JSON.stringify(next) ?? "nothing"}`);
    printNote(cli, `${sentenceOf(rehearsal)}. Nothing was stored`);
  }
  return after.outcome === "returned" ? 0 : 1;
}

/** Prints an unchanged event once, without a sign. */
function eventLines({ before, after }: RehearsalRecord): string[] {
  const isSame = (index: number): boolean => isSameJson(before.events[index]?.event, after.events[index]?.event);
  const gone = before.events.flatMap(({ event }, index) => (isSame(index) ? [] : [`- ${JSON.stringify(event)}`]));
  const now = after.events.map(({ event, dropped }, index) => {
    const why = dropped === undefined ? "" : ` (would be dropped: ${dropped})`;
    return `${isSame(index) ? " " : "+"} ${JSON.stringify(event)}${why}`;
  });
  return [...gone, ...now];
}
