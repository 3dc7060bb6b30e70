import type { RehearsedRunRecord, RunRecord } from "../../../api/workflows.ts";
import { differenceLines, differencesOf, sumOfRehearsed } from "../../../client/run-difference.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { type CliContext, connect } from "../../context.ts";
import { givenEventObject } from "../../code/prop-flags.ts";
import { findDeployed } from "../../deployed.ts";
import { printInvocation } from "../invocation-lines.ts";
import { sourceRuns } from "./source-runs.ts";
import { countOf, printJson, printLine, printNote, printRecord, printRecords } from "../../reporter.ts";
import { sinceOf } from "../../since.ts";
import { runLine, stepLines, waitOf } from "../../workflows/workflow-text.ts";
import { untilRest } from "../../workflows/until-rest.ts";

export async function listWorkflows(cli: CliContext, isWide: boolean): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await everyPage(client.workflows.list), {
    isWide,
    columns: ["name", "id", "active", "version", "steps", "runs", "failed", "endpoint"],
    cells: ({ name_slug: name, id, active, version, steps, runs, triggers }) => [
      name,
      id,
      active ? "yes" : "no",
      version,
      steps.length,
      Object.values(runs).reduce((sum, count) => sum + count, 0),
      runs.failed,
      triggers.find(({ endpoint_url: url }) => url !== undefined)?.endpoint_url,
    ],
    none: "No workflows yet: pd deploy <folder>, or pd init workflow <name> for a template",
  });
}

export interface RunsFlags {
  readonly n: string;
  readonly failed?: boolean | undefined;
  readonly state?: string | undefined;
  readonly since?: string | undefined;
}

export async function runs(cli: CliContext, target: string, flags: RunsFlags): Promise<number> {
  const client = await connect(cli);
  if (target.startsWith("run_")) {
    checkAlone(target, flags);
    await showRun(cli, client, await client.workflows.run(target));
    return 0;
  }
  if (target.startsWith("inv_")) {
    checkAlone(target, flags);
    printInvocation(cli, await client.invocations.get(target));
    return 0;
  }
  const { kind, record } = await findDeployed(client, target);
  if (kind === "source") return sourceRuns(cli, client, { source: record, flags });
  const states = statesOf(flags);
  const found = await client.workflows.runs(target, { limit: countOf(flags.n), ...(states && { states }), ...sinceParam(flags.since) });
  if (cli.isJson) printJson(cli, found);
  else if (found.length === 0)
    printNote(cli, states === undefined && flags.since === undefined ? `No runs yet: pd run ${target}` : noneOf(states, flags.since));
  else for (const run of found) printLine(cli, runLine(run, run.state === "waiting" ? waitOf(await client.workflows.steps(run.id)) : undefined));
  return 0;
}

/** Exit code 1 when the run failed. */
export async function showRun(cli: CliContext, client: Client, run: RunRecord): Promise<number> {
  const steps = await client.workflows.steps(run.id);
  if (cli.isJson) printJson(cli, { ...run, steps });
  else {
    printLine(cli, runLine(run, run.state === "waiting" ? waitOf(steps) : undefined));
    for (const step of steps) for (const line of stepLines(step)) printLine(cli, `  ${line}`);
    if (run.state === "failed") printNote(cli, `pd rerun ${run.id} continues from ${run.failure?.namespace ?? "there"} with the current files`);
  }
  return run.state === "failed" ? 1 : 0;
}

export async function runWorkflow(cli: CliContext, client: Client, { id, event }: { id: string; event: JsonObject | undefined }): Promise<number> {
  const begun = await client.workflows.start(id, event === undefined ? {} : { event });
  return showRun(cli, client, await untilRest(client, begun));
}

export interface RerunFlags extends Omit<RunsFlags, "n"> {
  readonly from?: string | undefined;
}

export async function rerun(cli: CliContext, target: string, flags: RerunFlags): Promise<number> {
  const client = await connect(cli);
  const { from } = flags;
  if (target.startsWith("run_")) {
    checkAlone(target, flags);
    return showRun(cli, client, await untilRest(client, await client.workflows.rerun(target, { from })));
  }
  const states = statesOf(flags);
  if (states === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot rerun ${target}: no runs are selected`, {
      fix: `pd rerun ${target} --failed --since 1d, or pd rerun <run>`,
    });
  const begun = await client.workflows.rerunAll(target, { states, from, ...sinceParam(flags.since) });
  return printRecord(cli, begun, () => printLine(cli, `Started ${begun.length === 1 ? "1 run" : `${begun.length} runs`} again: pd runs ${target}`));
}

export interface RetryFlags extends RerunFlags {
  readonly dry?: boolean | undefined;
  readonly go?: boolean | undefined;
}

/** `--dry` shows the effect without calling third parties. */
export async function retry(cli: CliContext, target: string, flags: RetryFlags): Promise<number> {
  if ((flags.dry === true) === (flags.go === true))
    throw new PdError("PD_BAD_INPUT", `Cannot retry ${target}: expected one of --dry and --go`, {
      fix: `pd retry ${target}${target.startsWith("run_") ? "" : " --failed"} --dry shows what would happen, --go retries`,
    });
  if (flags.go === true) return rerun(cli, target, { ...flags, failed: flags.failed === true || (flags.state === undefined && !target.startsWith("run_")) });
  const client = await connect(cli);
  const { from } = flags;
  const states = statesOf(flags) ?? "failed";
  const isRun = target.startsWith("run_");
  if (isRun) checkAlone(target, flags);
  const found = isRun
    ? [await client.workflows.rehearseRun(target, { from })]
    : await client.workflows.rehearse(target, { states, from, ...sinceParam(flags.since) });
  if (cli.isJson) printJson(cli, found);
  else for (const one of found) for (const line of rehearsedLines(one)) printLine(cli, line);
  if (!cli.isJson) printNote(cli, found.length === 0 ? noneOf(states, flags.since) : `${sumOfRehearsed(found)}. Nothing was stored; --go retries them`);
  return 0;
}

function noneOf(states: string | undefined, since: string | undefined): string {
  return `No${states === undefined ? "" : ` ${states}`} runs${since === undefined ? "" : ` since ${since}`}`;
}

function rehearsedLines({ run, before, after }: RehearsedRunRecord): string[] {
  const why = after.failure === undefined ? "" : `  ${after.failure.namespace}: ${after.failure.message}`;
  return [
    `${run.id}  ${run.state} → ${after.state}${why}`,
    ...differencesOf(before, after.steps)
      .flatMap(differenceLines)
      .map((line) => `  ${line}`),
  ];
}

export async function cancel(cli: CliContext, run: string): Promise<number> {
  const client = await connect(cli);
  const cancelled = await client.workflows.cancel(run);
  return printRecord(cli, cancelled, () => printLine(cli, runLine(cancelled)));
}

/** `--event`: the next step's `$resume_data`. */
export async function resume(cli: CliContext, run: string, { event: given }: { event?: string | undefined }): Promise<number> {
  const event = given === undefined ? undefined : await givenEventObject(cli, given);
  const client = await connect(cli);
  return showRun(cli, client, await untilRest(client, await client.workflows.resume(run, { event })));
}

/** Throws PD_BAD_INPUT. */
function checkAlone(run: string, { failed, state, since }: Omit<RunsFlags, "n">): void {
  const flag = failed === true ? "--failed" : state !== undefined ? "--state" : since === undefined ? undefined : "--since";
  if (flag !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use ${flag} with ${run}: it selects among runs, and this is a single one`);
}

/** Throws PD_BAD_INPUT. */
function statesOf({ failed, state }: Pick<RunsFlags, "failed" | "state">): string | undefined {
  if (failed === true && state !== undefined && state !== "failed")
    throw new PdError("PD_BAD_INPUT", `Cannot use --failed with --state ${state}: both select runs by state`, { fix: `--state ${state},failed` });
  return state ?? (failed === true ? "failed" : undefined);
}

function sinceParam(since: string | undefined): { since_ms?: number } {
  return since === undefined ? {} : { since_ms: Math.round(sinceOf(since)) };
}
