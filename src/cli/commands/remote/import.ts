import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { WorkflowRecord } from "../../../api/workflows.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { isSameJson } from "../../../domain/text/json.ts";
import { type ImportedWorkflow, isComplete, reportLines, reportPage } from "../../../domain/transfer/import-report.ts";
import { isAgreed } from "../../ask/agree.ts";
import { canAsk } from "../../ask/can-ask.ts";
import { type CodeFlags, givenEnv } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { checkChosen } from "../../import/check-chosen.ts";
import { chooseMissing } from "../../import/choose.ts";
import { type ExportedWorkflow, findExported, isArchive } from "../../import/exported-workflow.ts";
import { type Chosen, type PlannedImport, choiceFor, inOrder, missingAccounts, planImport, stateWords } from "../../import/plan-import.ts";
import { printError, printJson, printLine, printNote, table } from "../../reporter.ts";
import { withBar } from "../../spinner.ts";
import { type Stand, type StandFlags, sendWorkflow, standOf } from "../../workflows/deploy-workflow.ts";
import { pull } from "./transfer.ts";

export interface ImportFlags extends StandFlags, Pick<CodeFlags, "env" | "envFile"> {
  readonly into: string;
  readonly from?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly explain?: boolean | undefined;
  readonly report?: string | undefined;
  readonly yes?: boolean | undefined;
}

/** Plans, then deploys the ready workflows. The next import finds the others again. */
export async function importWorkflows(cli: CliContext, given: readonly string[], flags: ImportFlags): Promise<number> {
  if (flags.explain === true) return explain(cli, given);
  const [stand, env] = [standOf(flags), await givenEnv(flags)];
  if (flags.report !== undefined) await checkReport(flags.report);
  if (flags.dryRun !== true) return importInto(cli, given, { flags, stand, env });
  const into = await mkdtemp(join(tmpdir(), "headwater-import-"));
  try {
    return await importInto(cli, given, { flags: { ...flags, into }, stand, env });
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

/** Throws PD_BAD_INPUT before the work starts. */
async function checkReport(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (folder?.isDirectory() !== true) throw new PdError("PD_BAD_INPUT", `Cannot write the report ${path}: the folder ${dirname(path)} does not exist`);
}

async function importInto(cli: CliContext, given: readonly string[], { flags, stand, env }: Importing): Promise<number> {
  const exported = await exportedOf(cli, given, flags);
  const client = await connect(cli);
  if (flags.from !== undefined && flags.dryRun !== true) await pullSources(cli, client, { exported, flags, from: flags.from });
  const plans = inOrder(await planAll(cli, client, { exported, env }));
  await checkChosen(client, plans, stand);
  if (!cli.isJson) showPlan(cli, plans, { stand, env });
  if (flags.dryRun === true) return endWithoutChange(cli, plans, { stand, env });
  const isOpen = plans.some(({ exported: { folder }, problems }) => folder !== undefined && problems.length === 0);
  if (isOpen && canAsk(cli, flags) && flags.yes !== true) await chooseMissing(cli, client, { plans, stand, env });
  const goesOn = !isOpen || (await isAgreed(cli, { ...flags, yes: flags.yes, question: "Deploy what is ready?", attempted: "import", isUsual: true }));
  const results: ImportedWorkflow[] = [];
  for (const planned of plans) results.push(goesOn ? await carryOut(cli, client, { planned, stand, env }) : untouched(planned, stand));
  await tell(cli, results, flags.report);
  return isComplete(results) ? 0 : 1;
}

/** Sources that trigger the fetched workflows. Reports and skips failures. */
async function pullSources(
  cli: CliContext,
  client: Client,
  { exported, flags, from }: { readonly exported: readonly ExportedWorkflow[]; readonly flags: ImportFlags; readonly from: string },
): Promise<void> {
  const ids = exported.flatMap(({ folder }) => [...(folder?.files["workflow.yaml"] ?? "").matchAll(/^\s*- id: (dc_\w+)\s*$/gm)].map(([, id = ""]) => id));
  const known = new Set((await everyPage(client.sources.list)).map(({ id }) => id));
  // Its output is not part of the JSON result.
  const aside = cli.isJson ? { ...cli, isJson: false, stdout: cli.stderr } : cli;
  for (const id of new Set(ids.filter((one) => !known.has(one))))
    await pull(aside, [id], { from, withState: true, events: "100", yes: flags.yes, prompt: flags.prompt }).catch((error: unknown) => printError(aside, error));
}

interface Importing extends Chosen {
  readonly flags: ImportFlags;
  readonly env: Record<string, string>;
}

async function exportedOf(cli: CliContext, given: readonly string[], flags: ImportFlags): Promise<readonly ExportedWorkflow[]> {
  const [what, ...others] = given;
  if (what === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot import: no folder, ZIP or id is given", {
      fix: "pd import <folder, clone or ZIP>, or pd import --from pipedream p_…",
    });
  if (flags.from !== undefined) return (await import("../../import/hosted-workflows.ts")).fetchHosted(cli, given, { from: flags.from, into: flags.into });
  if (others.length > 0)
    throw new PdError("PD_BAD_INPUT", `Cannot import ${given.join(", ")} at once`, {
      fix: "Import one at a time; ids of the hosted platform need --from pipedream",
    });
  return (await isArchive(what)) ? (await import("../../import/archive.ts")).unpackArchive(what, flags.into) : findExported(what);
}

/** Prints no values that may be secret. */
async function explain(cli: CliContext, [path, ...others]: readonly string[]): Promise<number> {
  if (path === undefined || others.length > 0 || !(await isArchive(path)))
    throw new PdError("PD_BAD_INPUT", "Cannot explain: expected one archive", { fix: "pd import --explain project_export-….zip" });
  for (const line of await (await import("../../import/archive.ts")).explainArchive(path)) printLine(cli, line);
  return 0;
}

function planAll(
  cli: CliContext,
  client: Client,
  { exported, env }: { readonly exported: readonly ExportedWorkflow[]; readonly env: Record<string, string> },
): Promise<readonly PlannedImport[]> {
  return withBar(cli, "Checking", async ({ tick }) => {
    const plans: PlannedImport[] = [];
    for (const [index, one] of exported.entries()) {
      tick(index, exported.length, `${index} of ${exported.length}, ${one.place}`);
      plans.push(await planImport(client, one, env));
    }
    return plans;
  });
}

function showPlan(cli: CliContext, plans: readonly PlannedImport[], chosen: Chosen): void {
  printLine(
    cli,
    table(
      ["workflow", "state"],
      plans.map((planned) => [planned.plan?.name ?? planned.exported.name, stateWords(planned, chosen)]),
    ),
  );
  const names = new Map(plans.map(({ exported, plan }) => [exported.folder?.id, plan?.name]));
  const ids = plans.flatMap(({ plan, exported, before }) =>
    (plan?.foreign ?? []).map((one) => [
      one.id,
      one.app === undefined ? one.kind : `${one.kind} of ${one.app}`,
      plan?.name ?? exported.name,
      names.has(one.id) && one.kind === "source" ? `${names.get(one.id) ?? one.id}, also imported` : chosenFor(withKnown(one, before), chosen.stand),
    ]),
  );
  if (ids.length > 0) printLine(cli, `\n${table(["id in the export", "kind", "workflow", "becomes"], ids)}`);
  const components = plans.flatMap(({ plan }) => (plan?.components ?? []).map(({ key, version, from }) => `${key}@${version} ${from}`));
  const rows = [...new Set(components)].toSorted().map((one) => one.split(" "));
  if (rows.length > 0) printLine(cli, `\n${table(["component", "from registry"], rows)}`);
  for (const { exported, problems } of plans) for (const problem of problems) printLine(cli, `\n${exported.place}: ${problem}`);
  printLine(cli, "");
}

function withKnown<Planned extends { readonly id: string; readonly here?: string | undefined }>(planned: Planned, before: WorkflowRecord | undefined): Planned {
  const here = before?.foreign.find(({ id }) => id === planned.id)?.here;
  return here === undefined ? planned : { ...planned, here };
}

function chosenFor({ id, kind, here }: { readonly id: string; readonly kind: string; readonly here?: string | undefined }, stand: Stand): string {
  const schedule = stand.schedules[id];
  const chosen = stand.accounts[id] ?? stand.stores[id] ?? stand.sources[id] ?? (schedule === undefined ? undefined : JSON.stringify(schedule)) ?? here;
  if (chosen !== undefined) return chosen;
  if (kind === "endpoint") return "a new address";
  return kind === "data store" ? `a new one, named ${id}` : "nothing yet";
}

function endWithoutChange(cli: CliContext, plans: readonly PlannedImport[], chosen: Chosen): number {
  if (cli.isJson)
    printJson(
      cli,
      plans.map((planned) => ({
        place: planned.exported.place,
        state: stateWords(planned, chosen),
        problems: [...planned.problems],
        plan: planned.plan ?? null,
      })),
    );
  else printNote(cli, "Nothing was changed (--dry-run)");
  return 0;
}

interface CarryingOut extends Chosen {
  readonly planned: PlannedImport;
}

/** A single request, so an interruption leaves no half-updated workflow. */
async function carryOut(cli: CliContext, client: Client, { planned, stand, env }: CarryingOut): Promise<ImportedWorkflow> {
  const { exported, plan, before, isSame, problems } = planned;
  const { folder } = exported;
  if (folder === undefined || plan === undefined || problems.length > 0 || missingAccounts(planned, stand).length > 0) return untouched(planned, stand);
  const { env: own, ...chosen } = choiceFor(planned, { stand, env });
  const isChosen = [...Object.values(chosen), own].some((one) => Object.keys(one).length > 0);
  if (before !== undefined && isSame && !isChosen) return resultOf(planned, before, { result: "unchanged" });
  try {
    const { workflow, isNew } = await sendWorkflow(cli, client, { folder, flags: { prompt: false }, env: own, chosen });
    const isUnchanged =
      isSame && before !== undefined && JSON.stringify(before.foreign) === JSON.stringify(workflow.foreign) && isSameJson(before.env, workflow.env);
    const result = isNew ? "deployed" : isUnchanged ? "unchanged" : "updated";
    return resultOf(planned, workflow, { result, given: isNew ? [] : Object.keys(own) });
  } catch (error) {
    return { ...untouched(planned, stand), result: "failed", todo: [messageOf(error)] };
  }
}

function untouched(planned: PlannedImport, stand: Stand): ImportedWorkflow {
  const { exported, plan, before, problems } = planned;
  const base = { place: exported.place, name: plan?.name ?? exported.name, endpoints: [], notes: [...exported.notes] };
  const known = before === undefined ? {} : { id: before.id, slug: before.name_slug, active: before.active };
  if (exported.folder === undefined)
    return { ...base, result: "left", todo: [], notes: [...(exported.left === undefined ? [] : [exported.left]), ...exported.notes] };
  if (problems.length > 0) return { ...base, ...known, result: "failed", todo: problems };
  const todo = missingAccounts(planned, stand).map(({ id, app }) => `pd accounts connect ${app}, then run this again with --map ${id}=<its name>`);
  return { ...base, ...known, result: "waits", todo };
}

function resultOf(
  planned: PlannedImport,
  workflow: WorkflowRecord,
  { result, given = [] }: { result: ImportedWorkflow["result"]; given?: readonly string[] },
): ImportedWorkflow {
  const { exported, plan } = planned;
  const { id, name_slug: slug, active, foreign, env, warnings } = workflow;
  const unset = (plan?.variables ?? []).filter((name) => !env.includes(name));
  const open = foreign.filter(({ here }) => here === undefined);
  return {
    place: exported.place,
    name: workflow.name,
    result,
    id,
    slug,
    active,
    endpoints: foreign.flatMap(({ id: before, kind, here }) => (kind === "endpoint" && here !== undefined ? [{ before, here }] : [])),
    todo: [
      ...open.map(({ id: one, kind }) =>
        kind === "schedule"
          ? `set the schedule ${one}: pd update ${slug} --map ${one}="0 8 * * *"`
          : `set the source ${one}: pd update ${slug} --map ${one}=<source>`,
      ),
      ...unset.map((name) => `set the variable ${name}: pd update ${slug} --env ${name}=…`),
      ...(active ? [] : [`activate it when it may run: pd update ${slug} --activate`]),
    ],
    notes: [...exported.notes, ...warnings, ...(given.length === 0 ? [] : [`its variables were set: ${given.join(", ")}`])],
  };
}

async function tell(cli: CliContext, results: readonly ImportedWorkflow[], report: string | undefined): Promise<void> {
  const plain = results.map((one) => ({ ...one, endpoints: one.endpoints.map((pair) => ({ ...pair })), todo: [...one.todo], notes: [...one.notes] }));
  if (cli.isJson) printJson(cli, plain);
  else for (const line of reportLines(results)) printLine(cli, line);
  if (report === undefined) return;
  const isPage = /\.html?$/i.test(report);
  await writeFile(
    report,
    isPage ? reportPage(results) : report.endsWith(".json") ? `${JSON.stringify(plain, null, 2)}\n` : `${reportLines(results).join("\n")}\n`,
  );
  if (!cli.isJson) printNote(cli, `Wrote the report to ${report}`);
}
