import { FAILURES, type Finding, findingsOf } from "../../domain/checkup.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ServerFacts } from "./facts.ts";
import { problemsOf } from "./sources.ts";

/** What is right and wrong with this server and all that is deployed on it. */
export async function checkup(engine: Engine, facts: Pick<ServerFacts, "status" | "usage">, now: number): Promise<readonly Finding[]> {
  const sources = engine.newestSources();
  const [problems, outcomes, accounts, webhooks, usage] = await Promise.all([
    problemsOf(engine, sources),
    Promise.all(sources.map(({ source }) => engine.history.outcomes(source.id, FAILURES))),
    engine.accounts.list(undefined),
    engine.webhooks.list(),
    facts.usage(),
  ]);
  const { damage, sandbox, no_wall: reason } = facts.status();
  return findingsOf({
    now,
    damage,
    disk: { freeBytes: usage.free_bytes, totalBytes: usage.total_bytes },
    sandbox: { kind: sandbox, reason },
    processes: engine.processes,
    waiting: engine.load.waiting,
    sources: sources.map(({ source: { slug, active } }, index) => ({
      slug,
      active,
      problems: problems[index] ?? [],
      failed: (outcomes[index] ?? []).map(({ outcome }) => outcome.kind !== "returned"),
    })),
    accounts: accounts.map(({ name, problem }) => ({ name, problem })),
    webhooks: webhooks.map(({ id, name, url, ...rest }) => ({ id, name: name ?? url, ...rest })),
  });
}
