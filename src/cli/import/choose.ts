import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { parseGivenTimer } from "../../domain/timer/schedule.ts";
import { lookAt } from "../accounts/account-flags.ts";
import { askNewAccount } from "../accounts/ask-account.ts";
import { input, password, search } from "../ask/prompts.ts";
import type { CliContext } from "../context.ts";
import { holdingTerminal } from "../spinner.ts";
import { type Stand, scheduleOf } from "../workflows/deploy-workflow.ts";
import { type PlannedImport, missingAccounts, missingVariables } from "./plan-import.ts";

const NEW = "+new";
const LATER = "+later";

interface Choosing {
  readonly plans: readonly PlannedImport[];
  readonly stand: Stand;
  readonly env: Record<string, string>;
}

/** Once for each unmapped id and missing variable. */
export async function chooseMissing(cli: CliContext, client: Client, { plans, stand, env }: Choosing): Promise<void> {
  const open = plans.filter(({ plan, problems }) => plan !== undefined && problems.length === 0);
  for (const planned of open)
    for (const { id, app, usedBy } of missingAccounts(planned, stand)) {
      const chosen = await askAccount(cli, client, { id, app, usedBy: `${usedBy.join(", ")} of ${planned.plan?.name ?? ""}` });
      if (chosen !== undefined) stand.accounts[id] = chosen;
    }
  for (const [id, usedBy] of openIds(open, "data store", stand.stores)) {
    const names = (await client.dataStores.list()).map(({ name }) => name);
    const chosen = await ask(cli, `Which data store is ${id} (${usedBy})?`, [
      { name: `a new one, named ${id}`, value: NEW },
      ...names.map((name) => ({ name, value: name })),
    ]);
    if (chosen !== NEW) stand.stores[id] = chosen;
  }
  for (const [id, usedBy] of openIds(open, "source", stand.sources)) {
    const sources = (await client.sources.list({ limit: 1000 })).data;
    const chosen = await ask(cli, `Which source is ${id}, whose events trigger ${usedBy}?`, [
      { name: "none yet: leave it for later", value: LATER },
      ...sources.map(({ id: value, name_slug: slug }) => ({ name: `${slug}  ${value}`, value: slug })),
    ]);
    if (chosen !== LATER) stand.sources[id] = chosen;
  }
  for (const [id, usedBy] of openIds(open, "schedule", stand.schedules)) {
    const text = await holdingTerminal(() =>
      input(
        {
          message: `When does ${id} of ${usedBy} fire? A cron expression, or a number of seconds such as 300; Enter leaves it for later`,
          validate: (answer) => answer.trim() === "" || scheduleProblem(answer.trim()),
        },
        { input: cli.stdin, output: cli.stderr },
      ),
    );
    if (text.trim() !== "") stand.schedules[id] = scheduleOf(text.trim());
  }
  for (const name of new Set(open.flatMap((planned) => missingVariables(planned, env)))) {
    const value = await holdingTerminal(() =>
      password({ message: `Value of the variable ${name}; Enter leaves it for later`, mask: "*" }, { input: cli.stdin, output: cli.stderr }),
    );
    if (value !== "") env[name] = value;
  }
}

function scheduleProblem(text: string): string | true {
  const parsed = parseGivenTimer(scheduleOf(text));
  return typeof parsed === "string" ? `Invalid schedule: ${parsed}` : true;
}

/** Unmapped id → workflows that use it. */
function openIds(plans: readonly PlannedImport[], wanted: string, chosen: Readonly<Record<string, string | JsonObject>>): ReadonlyMap<string, string> {
  const imported = new Set(plans.flatMap(({ exported }) => exported.folder?.id ?? []));
  const found = new Map<string, string>();
  for (const { plan, before } of plans)
    for (const { id, kind, here } of plan?.foreign ?? []) {
      const isKnown = before?.foreign.some((one) => one.id === id && one.here !== undefined) === true;
      if (kind !== wanted || here !== undefined || chosen[id] !== undefined || isKnown || imported.has(id)) continue;
      found.set(id, [found.get(id), plan?.name].filter(Boolean).join(", "));
    }
  return found;
}

async function askAccount(cli: CliContext, client: Client, { id, app, usedBy }: { id: string; app: string; usedBy: string }): Promise<string | undefined> {
  const known = (await client.accounts.list({ app, limit: 1000 })).data;
  const chosen = await ask(cli, `Which account of ${app} is ${id} (${usedBy})?`, [
    ...known.map(({ id: value, name }) => ({ name: `${name ?? value}  ${value}`, value })),
    { name: `a new account of ${app}`, value: NEW },
    { name: "none yet: leave it for later", value: LATER },
  ]);
  if (chosen === LATER) return undefined;
  if (chosen !== NEW) return chosen;
  return (await askNewAccount(cli, client, { app: await lookAt(cli, client, app), name: undefined, signal: undefined })).id;
}

function ask(cli: CliContext, message: string, choices: { name: string; value: string }[]): Promise<string> {
  return holdingTerminal(() => search({ message, source: () => choices }, { input: cli.stdin, output: cli.stderr }));
}
