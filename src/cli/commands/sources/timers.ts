import type { InstantRecord } from "../../../api/invocations.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { describeSchedule, parseTimer } from "../../../domain/timer/schedule.ts";
import { type CliContext, connect } from "../../context.ts";
import { type Deployed, findDeployed } from "../../deployed.ts";
import { countOf, localTime, printJson, printLine, printNote, printRecords } from "../../reporter.ts";

interface PlannedTimer {
  readonly name: string;
  readonly id: string;
  readonly prop: string;
  readonly schedule: string;
  readonly next_at_ms?: number | undefined;
}

/** With a target, also prints the outcomes of its newest planned times. */
export async function timers(cli: CliContext, target: string | undefined, { n }: { readonly n: string }): Promise<number> {
  const client = await connect(cli);
  if (target === undefined) return printTimers(cli, (await everyDeployed(client)).flatMap(timersOf).toSorted(byNext));
  const deployed = await findDeployed(client, target);
  const planned = timersOf(deployed);
  const limit = countOf(n);
  const ids = [...new Set([...planned.map(({ id }) => id), ...(deployed.kind === "source" ? [deployed.record.id] : [])])];
  const instants = (await Promise.all(ids.map((id) => client.invocations.instants(id, { limit })))).flat();
  const newest = instants.toSorted((a, b) => b.planned_at_ms - a.planned_at_ms).slice(0, limit);
  if (cli.isJson) {
    printJson(cli, { timers: planned, instants: newest });
    return 0;
  }
  printTimers(cli, planned);
  for (const instant of newest) printLine(cli, instantLine(instant));
  if (newest.length === 0) printNote(cli, "Nothing has been planned yet");
  return 0;
}

async function everyDeployed(client: Client): Promise<readonly Deployed[]> {
  const [sources, workflows] = [await everyPage(client.sources.list), await everyPage(client.workflows.list)];
  return [...sources.map((record): Deployed => ({ kind: "source", record })), ...workflows.map((record): Deployed => ({ kind: "workflow", record }))];
}

function timersOf(deployed: Deployed): readonly PlannedTimer[] {
  if (deployed.kind === "workflow") {
    const { name_slug: name, triggers } = deployed.record;
    return triggers.flatMap(({ kind, id, next_at_ms: next, configured_props: props }) =>
      kind === "schedule" && id !== undefined ? [{ name, id, prop: "schedule", schedule: scheduleText(props?.["timer"]), next_at_ms: next }] : [],
    );
  }
  const { id, name_slug: name, timers: own = [] } = deployed.record;
  return own.map(({ prop, next_at_ms: next, ...schedule }) => ({ name, id, prop, schedule: scheduleText(schedule), next_at_ms: next }));
}

function byNext(left: PlannedTimer, right: PlannedTimer): number {
  return (left.next_at_ms ?? Infinity) - (right.next_at_ms ?? Infinity);
}

function printTimers(cli: CliContext, planned: readonly PlannedTimer[]): number {
  return printRecords(cli, planned, {
    columns: ["name", "prop", "next", "schedule"],
    cells: ({ name, prop, next_at_ms: next, schedule }) => [name, prop, next === undefined ? "never" : localTime(next), schedule],
    none: "No timers",
  });
}

function scheduleText(value: unknown): string {
  const parsed = parseTimer(value);
  return typeof parsed === "string" ? "" : describeSchedule(parsed.schedule);
}

const SIGNS: Readonly<Record<InstantRecord["state"], string>> = { running: "▶", fired: "✔", coalesced: "⊘", skipped: "⊘" };

/** Consecutive times with the same outcome share a line. */
function instantLine({ prop, planned_at_ms: at, last_planned_at_ms: last, count, state, invocation_id: id = "", reason = "" }: InstantRecord): string {
  const until = count === 1 ? "" : `  ${count} until ${localTime(last)}`;
  return [`${SIGNS[state]} ${state}`, `${localTime(at)}${until}`, prop, id, reason].filter((part) => part !== "").join("  ");
}
