export interface Finding {
  /** `attention` means that it works, but not permanently or not for everyone. */
  readonly level: "good" | "attention" | "bad";
  readonly about: string;
  readonly text: string;
  readonly fix?: string | undefined;
}

interface CheckedSource {
  readonly slug: string;
  readonly active: boolean;
  readonly problems: readonly string[];
  /** Newest first. */
  readonly failed: readonly boolean[];
}

interface CheckedWorkflow {
  readonly slug: string;
  readonly active: boolean;
  readonly warnings: readonly string[];
  /** Finished runs only, newest first. */
  readonly failed: readonly boolean[];
}

interface CheckedWebhook {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly inactiveReason?: string;
  readonly failingSince?: number;
  readonly problem?: string;
}

export interface CheckedFacts {
  readonly now: number;
  readonly damage: string | undefined;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number };
  /** Why the wall is not used. */
  readonly sandbox: { readonly kind: "wall" | "belt"; readonly reason: string | undefined };
  readonly processes: { readonly count: number; readonly most: number };
  readonly waiting: number;
  readonly sources: readonly CheckedSource[];
  readonly workflows: readonly CheckedWorkflow[];
  readonly accounts: readonly { readonly name: string; readonly problem: string | undefined }[];
  readonly registries: readonly { readonly name: string; readonly problem: string | undefined }[];
  readonly webhooks: readonly CheckedWebhook[];
  /** Slugs of those that receive their own events. */
  readonly circle: readonly string[];
}

const MEGABYTE = 1e6;
const GIGABYTE = 1e9;
const LITTLE_BYTES = GIGABYTE / 2;
const SOME_BYTES = 2 * GIGABYTE;
export const FAILURES = 5;

export function findingsOf(facts: CheckedFacts): readonly Finding[] {
  const found = [
    database(facts),
    disk(facts),
    wall(facts),
    load(facts),
    ...inPart("sources", facts.sources.flatMap(sourceFindings), `${facts.sources.length} checked`),
    ...(facts.workflows.length === 0 ? [] : inPart("workflows", facts.workflows.flatMap(workflowFindings), `${facts.workflows.length} checked`)),
    ...inPart("accounts", facts.accounts.flatMap(accountFindings), `${facts.accounts.length} checked`),
    ...inPart(
      "webhooks",
      facts.webhooks.flatMap((webhook) => webhookFindings(webhook, facts.now)),
      `${facts.webhooks.length} checked`,
    ),
    ...facts.registries.flatMap(registryFindings),
    ...circles(facts),
  ];
  return worstFirst(found);
}

const RANK = { bad: 0, attention: 1, good: 2 };

export function worstFirst(found: readonly Finding[]): readonly Finding[] {
  return found.toSorted((a, b) => RANK[a.level] - RANK[b.level]);
}

function inPart(about: string, wrong: readonly Finding[], text: string): readonly Finding[] {
  return wrong.length > 0 ? wrong : [{ level: "good", about, text }];
}

function circles({ circle }: CheckedFacts): readonly Finding[] {
  if (circle.length === 0) return [];
  const text = `${circle.join(", ")} receive${circle.length === 1 ? "s its own events" : " each other's events in a circle"}: one event may cause an endless loop`;
  return [{ level: "attention", about: "subscriptions", text, fix: "Run pd subscriptions list, and delete unwanted ones with pd subscriptions delete" }];
}

function database({ damage }: CheckedFacts): Finding {
  const about = "database";
  if (damage === undefined) return { level: "good", about, text: "no known damage" };
  return {
    level: "bad",
    about,
    text: `it is damaged and no longer written: ${damage}`,
    fix: "Save readable data with pd backup, then restore a backup with pd restore",
  };
}

export function disk({ disk: { freeBytes, totalBytes } }: Pick<CheckedFacts, "disk">): Finding {
  const about = "disk";
  const [unit, bytes] = totalBytes < GIGABYTE ? ["MB", MEGABYTE] : ["GB", GIGABYTE];
  const text = `${(freeBytes / bytes).toFixed(1)} of ${(totalBytes / bytes).toFixed(1)} ${unit} are free`;
  const fix = "Free some space, or store less: --keep-events, --keep-invocations, --keep-days";
  if (freeBytes < LITTLE_BYTES) return { level: "bad", about, text, fix };
  return freeBytes < SOME_BYTES ? { level: "attention", about, text, fix } : { level: "good", about, text };
}

export function wall({ sandbox: { kind, reason } }: Pick<CheckedFacts, "sandbox">): Finding {
  const about = "sandbox";
  if (kind === "wall") return { level: "good", about, text: "components run inside the wall" };
  return {
    level: "attention",
    about,
    text: `components run without the wall${reason === undefined ? "" : ` (${reason})`}: only Node's permission model restricts them`,
    fix: "Install bubblewrap, and read SECURITY.md",
  };
}

function load({ processes: { count, most }, waiting }: CheckedFacts): Finding {
  const about = "load";
  const text = `${count} of at most ${most} component processes, ${waiting} waiting`;
  if (waiting === 0) return { level: "good", about, text };
  return { level: "attention", about, text, fix: "Start the server with more --processes if the machine has enough memory" };
}

function sourceFindings({ slug, active, problems, failed }: CheckedSource): readonly Finding[] {
  const about = `source ${slug}`;
  if (problems.length > 0) return problems.map((text) => ({ level: "bad", about, text, fix: `pd describe ${slug}` }));
  if (!active || !areAllFailed(failed)) return [];
  return [{ level: "attention", about, text: `at least its last ${FAILURES} calls failed`, fix: `pd logs ${slug}` }];
}

function workflowFindings({ slug, active, warnings, failed }: CheckedWorkflow): readonly Finding[] {
  const about = `workflow ${slug}`;
  const fix = `pd describe ${slug}`;
  if (active && areAllFailed(failed)) return [{ level: "attention", about, text: `at least its last ${FAILURES} runs failed`, fix: `pd runs ${slug}` }];
  return warnings.map((text) => ({ level: "attention", about, text, fix }));
}

function areAllFailed(failed: readonly boolean[]): boolean {
  return failed.length >= FAILURES && failed.slice(0, FAILURES).every(Boolean);
}

function accountFindings({ name, problem }: CheckedFacts["accounts"][number]): readonly Finding[] {
  if (problem === undefined) return [];
  return [{ level: "bad", about: `account ${name}`, text: problem, fix: `pd accounts reconnect ${name}` }];
}

function registryFindings({ name, problem }: CheckedFacts["registries"][number]): readonly Finding[] {
  if (problem === undefined) return [];
  const fix = `Restore it, or run pd registry remove ${name}`;
  return [{ level: "attention", about: `registry ${name}`, text: `its components cannot be found: ${problem}`, fix }];
}

function webhookFindings({ id, name, active, inactiveReason, failingSince, problem }: CheckedWebhook, now: number): readonly Finding[] {
  const about = `webhook ${name}`;
  if (problem !== undefined) return [{ level: "bad", about, text: problem, fix: `Run pd webhooks delete ${id}, and create another one` }];
  if (!active && inactiveReason !== undefined)
    return [{ level: "bad", about, text: `deactivated by the server: ${inactiveReason}`, fix: `pd webhooks update ${id} --activate --replay-missed` }];
  // A webhook that its owner deactivated gets no attempts.
  if (!active || failingSince === undefined) return [];
  const hours = (now - failingSince) / 3_600_000;
  return [{ level: "attention", about, text: `every attempt has failed for ${hours.toFixed(1)} hours`, fix: `pd deliveries ${id} shows its responses` }];
}
