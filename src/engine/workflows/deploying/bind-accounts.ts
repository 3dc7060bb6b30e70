import type { Account } from "../../../domain/account/account.ts";
import { MAIL_ACCOUNT } from "../../../domain/account/mail.ts";
import { PdError } from "../../../domain/errors.ts";
import { WORKFLOW_FILE } from "./build-workflow.ts";
import { type NamedAccount, type WorkflowPlan, accountsIn } from "../plan.ts";

export interface BoundAccounts {
  /** Id in the file → account here, where they differ. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** `given`: id in the file → id or name of an account here. Throws PD_ACCOUNT_NOT_FOUND with all missing accounts. */
export function bindAccounts(plan: WorkflowPlan, { given, known }: { given: Readonly<Record<string, string>>; known: readonly Account[] }): BoundAccounts {
  const accounts: Record<string, string> = {};
  const warnings: string[] = [];
  const missing: NamedAccount[] = [];
  for (const named of accountsIn(plan)) {
    const { id, app } = named;
    const wanted = given[id];
    const ofApp = known.filter((account) => account.app === app);
    const [only] = ofApp;
    const found = wanted === undefined ? known.find((account) => account.id === id) : ofApp.find((account) => account.id === wanted || account.name === wanted);
    if (found !== undefined) {
      if (found.id !== id) accounts[id] = found.id;
    } else if (wanted === undefined && ofApp.length === 1 && only !== undefined && app !== MAIL_ACCOUNT.app) {
      accounts[id] = only.id;
      warnings.push(`${WORKFLOW_FILE}: account ${id} does not exist here: using ${only.name}, the only one of ${app}`);
    } else missing.push(named);
  }
  if (missing.length === 0) return { accounts, warnings };
  const lines = missing.map(({ id, app, steps }) => `\n  - ${id} of ${app}, for ${steps.join(", ")}`).join("");
  const [{ id, app } = { id: "", app: "" }] = missing;
  throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot deploy ${plan.workflow.name}: accounts in its file do not exist here:${lines}`, {
    fix: `Map it with --account ${id}=<name>, or connect one: pd accounts connect ${app}`,
    details: { accounts: missing },
  });
}
