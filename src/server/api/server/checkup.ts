import { type CheckedFacts, FAILURES, type Finding, findingsOf, worstFirst } from "../../../domain/health/checkup.ts";
import { messageOf } from "../../../domain/errors.ts";
import { inCircles } from "../../../domain/delivery/circles.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Webhook } from "../../../domain/delivery/webhook.ts";
import type { LiveSource } from "../../../engine/runs/source/live-source.ts";
import { unreadableBecause } from "../../../engine/runs/source/unreadable.ts";
import type { LiveWorkflow } from "../../../engine/workflows/running/live-workflow.ts";
import type { ServerFacts } from "./facts.ts";
import { problemsOf } from "../sources/sources.ts";
import { workflowRecord } from "../workflows/workflow-records.ts";

export async function checkup(engine: Engine, facts: Pick<ServerFacts, "status" | "disk" | "database">, now: number): Promise<readonly Finding[]> {
  const { damage, sandbox, no_wall: reason } = facts.status();
  const { count, most, waiting } = engine.processes;
  const server = { now, damage, disk: await facts.disk(), sandbox: { kind: sandbox, reason }, processes: { count, most }, waiting };
  // A damaged database would give wrong findings.
  const found = findingsOf({
    ...server,
    ...(damage === undefined ? await deployed(engine) : { sources: [], workflows: [], accounts: [], webhooks: [], circle: [], registries: [] }),
  });
  return worstFirst([...found, ...(await facts.database())]);
}

async function deployed(engine: Engine): Promise<Pick<CheckedFacts, "sources" | "workflows" | "accounts" | "webhooks" | "circle" | "registries">> {
  const all = engine.sources.list();
  const broken = new Map(all.flatMap((live) => brokenSource(live).map((found) => [live, found] as const)));
  const sources = all.filter((live) => !broken.has(live));
  const [problems, outcomes, workflows, accounts, webhooks, subscriptions, registries] = await Promise.all([
    problemsOf(engine, sources),
    Promise.all(sources.map(({ source }) => engine.history.outcomes(source.id, FAILURES))),
    Promise.all(engine.workflows.list().map((live) => checkedWorkflow(engine, live))),
    engine.accounts.list(undefined),
    engine.webhooks.list(),
    engine.webhooks.subscriptions(),
    engine.registries.looked(),
  ]);
  const slugs = new Map([...all.map(({ outline }) => outline), ...engine.workflows.list().map(({ source }) => source)].map(({ id, slug }) => [id, slug]));
  const checked = sources.map(({ source: { slug, active } }, index) => ({
    slug,
    active,
    problems: problems[index] ?? [],
    failed: (outcomes[index] ?? []).map(({ outcome }) => outcome.kind !== "returned"),
  }));
  return {
    sources: [...broken.values(), ...checked],
    workflows: [...workflows, ...engine.workflows.unreadable.map(({ slug, problem }) => ({ slug, active: true, warnings: [problem], failed: [] }))],
    registries: registries.map(({ registry: { name }, problem }) => ({ name, problem })),
    accounts: accounts.map((account) => ({ name: account.name, problem: account.problem ?? problemWith(() => account.credentials) })),
    circle: inCircles(subscriptions).map((id) => slugs.get(id) ?? id),
    webhooks: webhooks.map(checkedWebhook),
  };
}

function brokenSource(live: LiveSource): CheckedFacts["sources"] {
  const problem = unreadableBecause(live);
  return problem === undefined ? [] : [{ slug: live.outline.slug, active: true, problems: [problem], failed: [] }];
}

function checkedWebhook(webhook: Webhook): CheckedFacts["webhooks"][number] {
  const { id, name, url, active, inactiveReason, failingSince } = webhook;
  const problem = problemWith(() => webhook.secret);
  return {
    id,
    name: name ?? url,
    active,
    ...(inactiveReason === undefined ? {} : { inactiveReason }),
    ...(failingSince === undefined ? {} : { failingSince }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function problemWith(look: () => unknown): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function checkedWorkflow(engine: Engine, live: LiveWorkflow): Promise<CheckedFacts["workflows"][number]> {
  const { slug, active } = live.source;
  // An unreadable workflow is a finding, and must not hide the others.
  const warnings = await workflowRecord(engine, live).then(
    (record) => record.warnings,
    (error: unknown) => [messageOf(error)],
  );
  const ended = await engine.workflows.runs(live, { limit: FAILURES, states: ["succeeded", "failed", "cancelled"] });
  return { slug, active, warnings, failed: ended.map(({ state }) => state === "failed") };
}
