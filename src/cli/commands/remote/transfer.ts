import { coloursFor } from "../../colours.ts";
import type { WorkflowRecord } from "../../../api/workflows.ts";
import type { SourceRecord } from "../../../api/sources.ts";
import type { ExportedRecord } from "../../../api/transfer.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { theNamed } from "../../../domain/source/named.ts";
import { didYouMean } from "../../../domain/text/did-you-mean.ts";
import { PdError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { rightLines } from "../../../domain/account/rights.ts";
import { isAgreed } from "../../ask/agree.ts";
import { mayGrant } from "../../ask/grant.ts";
import { type CliContext, connectTo } from "../../context.ts";
import { exportHosted } from "../../transfer/hosted-source.ts";
import { type CodeFlags, givenEnv, givenProps } from "../../code/prop-flags.ts";
import { type Profile, findProfile, isHostedProfile } from "../../profiles.ts";
import { refuseGiven } from "../refuse-flags.ts";
import { countOf, printError, printJson, printLine, printNote } from "../../reporter.ts";
import { type Bar, withBar } from "../../spinner.ts";
import type { StandFlags } from "../../workflows/deploy-workflow.ts";
import { type PlannedWorkflow, planWorkflow, writeHostedWorkflow } from "../../workflows/transfer-workflow.ts";
import { type PlannedTransfer, PLAN_SIGNS, type TransferWishes, planTransfer } from "../../transfer/transfer-plan.ts";

export interface TransferFlags extends CodeFlags, StandFlags {
  readonly all?: boolean | undefined;
  readonly withSecrets?: boolean | undefined;
  readonly withState?: boolean | undefined;
  readonly events: string;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  /** Sources that may start programs. */
  readonly allowRun?: readonly string[] | undefined;
}

export function push(cli: CliContext, sources: readonly string[], flags: TransferFlags & { readonly to?: string | undefined }): Promise<number> {
  if (flags.to === undefined) throw new PdError("PD_BAD_INPUT", "Cannot push: --to is missing", { fix: "pd push <source> --to <profile>" });
  return transfer(cli, sources, { flags, from: cli.profile, to: flags.to, isPull: false });
}

export function pull(cli: CliContext, sources: readonly string[], flags: TransferFlags & { readonly from?: string | undefined }): Promise<number> {
  if (flags.from === undefined) throw new PdError("PD_BAD_INPUT", "Cannot pull: --from is missing", { fix: "pd pull <source> --from <profile>" });
  return transfer(cli, sources, { flags, from: flags.from, to: cli.profile, isPull: true });
}

interface Ends {
  readonly flags: TransferFlags;
  /** Profiles. Undefined for the default server. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly isPull: boolean;
}

/** One request per source, so an interruption leaves none half transferred. */
async function transfer(cli: CliContext, names: readonly string[], { flags, from, to, isPull }: Ends): Promise<number> {
  const wishes = { secrets: flags.withSecrets === true, state: flags.withState === true, events: countOf(flags.events, "--events") };
  const [props, env] = [await givenProps(flags), await givenEnv(flags)];
  if (names.length === 0 && flags.all !== true)
    throw new PdError("PD_BAD_INPUT", "Cannot transfer: no source is named", { fix: "Name sources, or give --all" });
  const origin = await connectTo(cli, from);
  const { orgId } = (await findProfile(from, cli.environment)) ?? {};
  const isHosted = isHostedProfile(from);
  const workflows = await workflowsAmong(origin, names, { isAll: flags.all === true, isHosted });
  const others = names.filter((name) => !workflows.includes(name));
  const wantsSources = others.length > 0 || flags.all === true;
  const listed = wantsSources ? await sourcesOf(origin, await findProfile(from, cli.environment)) : [];
  const sources = flags.all === true ? listed : others.map((name) => named(listed, name));
  checkTaken(flags, { sources: wantsSources, workflows: flags.all === true || (workflows.length > 0 && !isHosted) });
  if (isHosted) for (const id of workflows) await writeHostedWorkflow(cli, origin, { id, orgId, isDry: flags.dryRun === true });
  if (isHosted && !wantsSources) {
    if (!cli.isJson && flags.dryRun === true) printNote(cli, "Nothing was changed (--dry-run)");
    return 0;
  }
  const target = await connectTo(cli, to);
  const planned: PlannedWorkflow[] = [];
  if (!isHosted) for (const id of workflows) planned.push(await planWorkflow(cli, { origin, target }, { id, flags, env }));
  const failures: unknown[] = [];
  const found = await planSources(cli, { origin, target }, { sources, wishes, failures });
  if (failures.length === 0) checkDeclared(Object.keys(props), found);
  const plans = found.map((plan) => withGiven(plan, props, env));
  if (!cli.isJson) for (const plan of plans) showPlan(cli, plan, flags.withSecrets === true);
  // On a push, a user of this server granted the rights.
  const granted = isPull ? plans : [];
  const goesOn =
    flags.dryRun !== true &&
    (await mayGrant(cli, { granted, allowRun: flags.allowRun, prompt: flags.prompt })) &&
    (await mayChange(cli, { flags, plans: [...planned, ...plans], to: isPull ? undefined : to }));
  const done = goesOn ? await withBar(cli, isPull ? "Pulling" : "Pushing", (bar) => carryOut(cli, target, { plans, failures, bar })) : [];
  // The sources that workflows listen to must exist.
  if (goesOn) for (const workflow of planned) await workflow.carryOut().catch((error: unknown) => failures.push(error));
  if (cli.isJson && wantsSources)
    printJson(
      cli,
      plans.map(({ slug, kind, changes, rights }, index) => ({ slug, kind, changes: [...changes], rights: [...rights], done: done[index] === true })),
    );
  else if (!cli.isJson && flags.dryRun === true) printNote(cli, "Nothing was changed (--dry-run)");
  return tellFailures(cli, failures, sources.length + planned.length);
}

/** Throws PD_BAD_INPUT for a flag without effect. Hosted workflows become files, which take no flags. */
function checkTaken(flags: TransferFlags, takers: { readonly sources: boolean; readonly workflows: boolean }): void {
  const { account, source, schedule, prop, props, withState, withSecrets, env, envFile } = flags;
  const ofSources = { prop, props, "with-state": withState, "with-secrets": withSecrets, events: countOf(flags.events, "--events") || undefined };
  const refused = {
    ...(takers.workflows ? {} : { account, source, schedule }),
    ...(takers.sources ? {} : ofSources),
    ...(takers.sources || takers.workflows ? {} : { env, "env-file": envFile }),
  };
  refuseGiven(refused, "it applies to nothing that is transferred");
}

async function planSources(
  cli: CliContext,
  { origin, target }: { origin: Client; target: Client },
  { sources, wishes, failures }: { sources: readonly SourceRecord[]; wishes: TransferWishes; failures: unknown[] },
): Promise<readonly PlannedTransfer[]> {
  if (sources.length === 0) return [];
  const known = new Set((await everyPage(target.sources.list)).map(({ name_slug: slug }) => slug));
  const plans: PlannedTransfer[] = [];
  await withBar(cli, "Comparing", async ({ tick }) => {
    for (const [index, source] of sources.entries()) {
      tick(index, sources.length, `${index} of ${sources.length}, ${source.name_slug}`);
      try {
        const exported = await exportOf(origin, source, wishes);
        const before = known.has(exported.slug) ? await target.sources.export(exported.slug, { ...wishes, events: 0 }) : undefined;
        plans.push(planTransfer(exported, before));
      } catch (error) {
        failures.push(error);
      }
    }
  });
  return plans;
}

/** `isAll`: the ids of all workflows. */
async function workflowsAmong(
  origin: Client,
  names: readonly string[],
  { isAll, isHosted }: { isAll: boolean; isHosted: boolean },
): Promise<readonly string[]> {
  if (isHosted) return names.filter((name) => name.startsWith("p_"));
  const listed = await everyPage(origin.workflows.list).catch(ignoringOlder);
  if (isAll) return listed.map(({ id }) => id);
  return names.filter((name) => name.startsWith("p_") || listed.some(({ name_slug: slug }) => slug === name));
}

/** Older servers have no workflows. */
function ignoringOlder(error: unknown): readonly WorkflowRecord[] {
  if (error instanceof PdError && error.code === "PD_NOT_FOUND") return [];
  throw error;
}

/** A push asks before any change. A pull asks before it grants rights, or replaces local changes, which have no other copy. */
async function mayChange(
  cli: CliContext,
  {
    flags,
    plans,
    to,
  }: {
    flags: TransferFlags;
    plans: readonly (Pick<PlannedTransfer, "slug" | "kind"> & Partial<Pick<PlannedTransfer, "rights">>)[];
    /** Profile of a push. */
    to: string | undefined;
  },
): Promise<boolean> {
  const replaced = plans.filter(({ kind }) => kind === "update").map(({ slug }) => slug);
  const entitled = plans.filter(({ rights = [] }) => rights.length > 0).map(({ slug }) => slug);
  if (to !== undefined) {
    const changed = plans.filter(({ kind }) => kind !== "unchanged").map(({ slug }) => slug);
    if (changed.length === 0) return true;
    const attempted = `push ${changed.join(", ")}`;
    return isAgreed(cli, { ...flags, yes: flags.yes, question: `Apply this on ${to}?`, attempted, isUsual: true });
  }
  if (replaced.length + entitled.length === 0) return true;
  const names = replaced.join(", ");
  const question = replaced.length > 0 ? `Replace ${names} here with the pulled version?` : `Give ${entitled.join(", ")} these rights here?`;
  return isAgreed(cli, {
    ...flags,
    yes: flags.yes,
    question,
    attempted: replaced.length > 0 ? `replace ${names}` : `give ${entitled.join(", ")} these rights`,
  });
}

function tellFailures(cli: CliContext, failures: readonly unknown[], count: number): number {
  if (failures.length > 1) printNote(cli, `${failures.length} of ${count} could not be transferred:`);
  // The JSON result is already printed.
  for (const failure of failures) printError({ ...cli, isJson: false }, failure);
  return failures.length === 0 ? 0 : 1;
}

/** The hosted platform lists a workspace's sources separately. */
async function sourcesOf(client: Client, profile: Profile | undefined): Promise<readonly SourceRecord[]> {
  const own = await everyPage(client.sources.list);
  const { orgId } = profile ?? {};
  if (orgId === undefined) return own;
  const shared = await everyPage((page) => client.sources.listOfOrg(orgId, page));
  const ids = new Set(own.map(({ id }) => id));
  return [...own, ...shared.filter(({ id }) => !ids.has(id))];
}

function named(listed: readonly SourceRecord[], name: string): SourceRecord {
  const things = listed.map((record) => ({ id: record.id, slug: record.name_slug, name: record.name, record }));
  return theNamed(things, name, { attempted: "transfer source" }).record;
}

/** The hosted platform has only its documented endpoints. */
async function exportOf(client: Client, source: SourceRecord, wishes: TransferWishes): Promise<ExportedRecord> {
  try {
    return await client.sources.export(source.id, wishes);
  } catch (error) {
    const isForeign = error instanceof PdError && (error.code === "PD_NOT_FOUND" || error.code === "PD_FAILED");
    if (!isForeign) throw error;
    return exportHosted(client.connection, source, wishes);
  }
}

function checkDeclared(names: readonly string[], plans: readonly PlannedTransfer[]): void {
  const declared = plans.flatMap(({ propNames }) => propNames);
  const unknown = names.find((name) => !declared.includes(name));
  if (unknown !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot give --prop ${unknown}: no source that is transferred declares it${didYouMean(unknown, declared)}`);
}

function withGiven(plan: PlannedTransfer, props: JsonObject, env: Readonly<Record<string, string>>): PlannedTransfer {
  const { request, withheld, propNames } = plan;
  const wanted = Object.fromEntries(Object.entries(props).filter(([name]) => propNames.includes(name)));
  const given = new Set([...Object.keys(wanted), ...Object.keys(env).map((name) => `--env ${name}`)]);
  const hasNew = plan.kind === "unchanged" && given.size > 0;
  return {
    ...plan,
    kind: hasNew ? "update" : plan.kind,
    request: { ...request, configured_props: { ...request.configured_props, ...wanted }, env: { ...request.env, ...env } },
    withheld: withheld.filter((name) => !given.has(name)),
  };
}

function showPlan(cli: CliContext, { slug, kind, changes, withheld, rights }: PlannedTransfer, isWithSecrets: boolean): void {
  const advice = isWithSecrets ? "accounts stay on their server: give others with --prop" : "give them with --prop, or --with-secrets";
  const colours = coloursFor(cli.stdout, cli);
  printLine(cli, `${PLAN_SIGNS[kind]} ${slug}${kind === "unchanged" ? colours.dim(" (unchanged)") : ""}`);
  for (const change of changes) {
    const sign = change.trimStart()[0];
    printLine(cli, `  ${sign === "+" ? colours.green(change) : sign === "-" ? colours.red(change) : change}`);
  }
  for (const line of rightLines(rights)) printLine(cli, `  ${colours.yellow(line)}`);
  if (withheld.length > 0) printLine(cli, `  ! not transferred: ${withheld.join(", ")} (${advice})`);
}

interface Carrying {
  readonly plans: readonly PlannedTransfer[];
  readonly failures: unknown[];
  readonly bar: Bar;
}

async function carryOut(cli: CliContext, target: Client, { plans, failures, bar }: Carrying): Promise<boolean[]> {
  const done: boolean[] = [];
  for (const { kind, slug, request } of plans) {
    bar.tick(done.length, plans.length, `${done.length} of ${plans.length}, ${slug}`);
    try {
      if (kind !== "unchanged") {
        const { id } = await target.sources.import(request);
        if (!cli.isJson) bar.above(() => printLine(cli, `${kind === "create" ? "Created" : "Updated"} ${slug} (${id})`));
      }
      done.push(true);
    } catch (error) {
      failures.push(error);
      done.push(false);
    }
  }
  return done;
}
