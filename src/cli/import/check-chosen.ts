import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import { parseGivenTimer } from "../../domain/timer/schedule.ts";
import type { Stand } from "../workflows/deploy-workflow.ts";
import type { PlannedImport } from "./plan-import.ts";

/** Before the deployment. Throws PD_BAD_INPUT. */
export async function checkChosen(client: Client, plans: readonly PlannedImport[], stand: Stand): Promise<void> {
  const named = new Map(plans.flatMap(({ plan }) => (plan?.foreign ?? []).map((one) => [one.id, one] as const)));
  const problems: string[] = [];
  // An unreadable workflow may have any ids.
  const areAllKnown = plans.every(({ plan, exported }) => plan !== undefined || exported.folder === undefined);
  for (const id of [stand.accounts, stand.stores, stand.sources, stand.schedules].flatMap((chosen) => Object.keys(chosen)))
    if (areAllKnown && plans.every(({ problems: wrong }) => wrong.length === 0) && !named.has(id)) problems.push(`no workflow here has the id ${id}`);
  for (const [id, name] of Object.entries(stand.accounts)) {
    const app = named.get(id)?.app;
    if (app === undefined) continue;
    const known = (await client.accounts.list({ app, limit: 1000 })).data;
    if (!known.some((account) => account.id === name || account.name === name))
      problems.push(`no account of ${app} has the name ${JSON.stringify(name)}, which was given for ${id}: pd accounts connect ${app} --name ${name}`);
  }
  for (const [id, schedule] of Object.entries(stand.schedules)) {
    const parsed = parseGivenTimer(schedule);
    if (typeof parsed === "string") problems.push(`invalid schedule ${JSON.stringify(schedule)} for ${id}: ${parsed}`);
  }
  if (problems.length > 0) throw new PdError("PD_BAD_INPUT", `Cannot import with these choices: ${problems.join("; ")}`);
}
