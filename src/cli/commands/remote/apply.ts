import { coloursFor } from "../../colours.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { rightLines } from "../../../domain/account/rights.ts";
import { isAgreed } from "../../ask/agree.ts";
import { type GrantFlags, mayGrant } from "../../ask/grant.ts";
import { type CliContext, connectTo } from "../../context.ts";
import { planProject } from "../../project/plan-project.ts";
import { projectJsonSchema } from "../../project/project-schema.ts";
import { readProject } from "../../project/read-project.ts";
import type { Step, StepAction } from "../../project/step.ts";
import { printError, printJson, printLine, printNote } from "../../reporter.ts";
import { withSpinner } from "../../spinner.ts";

export interface ApplyFlags extends GrantFlags {
  readonly for?: string | undefined;
  readonly prune?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** Only prints the file's JSON schema. */
  readonly schema?: boolean | undefined;
  readonly prompt?: boolean | undefined;
}

const SIGNS: Readonly<Record<StepAction, string>> = { create: "+", update: "~", unchanged: "=", extra: "?", delete: "-" };

export async function apply(cli: CliContext, target: string | undefined, flags: ApplyFlags): Promise<number> {
  if (flags.schema === true) {
    cli.stdout.write(`${JSON.stringify(projectJsonSchema(), null, 2)}\n`);
    return 0;
  }
  const project = await readProject(target ?? ".", { profile: flags.for, environment: cli.environment });
  const client = await connectTo(cli, cli.profile ?? project.server);
  const steps = await withSpinner(cli, "Comparing", planProject(client, project, { prunes: flags.prune === true }));
  const open = steps.filter(({ action }) => action !== "unchanged" && action !== "extra");
  if (!cli.isJson) showPlan(cli, steps);
  const mayGoOn = open.length > 0 && flags.dryRun !== true && (await mayGrant(cli, grantingOf(steps, flags))) && (await isWanted(cli, flags, open));
  const failures = mayGoOn ? await carryOut(cli, open) : new Map<Step, unknown>();
  if (cli.isJson) {
    const done = (step: Step): boolean => mayGoOn && open.includes(step) && !failures.has(step);
    const records = steps.map((step) => ({
      kind: step.kind,
      name: step.name,
      action: step.action,
      changes: [...step.changes],
      rights: [...(step.rights ?? [])],
      done: done(step),
      ...(failures.has(step) ? { error: messageOf(failures.get(step)) } : {}),
    }));
    printJson(cli, { steps: records });
  } else if (flags.dryRun === true && open.length > 0) printNote(cli, "Nothing was changed (--dry-run)");
  return failures.size === 0 ? 0 : 1;
}

function showPlan(cli: CliContext, steps: readonly Step[]): void {
  const colours = coloursFor(cli.stdout, cli);
  for (const { kind, name, action, changes, rights = [] } of steps) {
    const note = action === "unchanged" ? colours.dim(" (unchanged)") : action === "extra" ? colours.dim(" (not in pd.yaml; --prune deletes it)") : "";
    printLine(cli, `${SIGNS[action]} ${kind} ${name}${note}`);
    for (const line of [...changes, ...rightLines(rights).map((text) => colours.yellow(text))]) printLine(cli, `    ${line}`);
  }
  const count = (action: StepAction): number => steps.filter((step) => step.action === action).length;
  const parts = [
    [count("create"), "to create"],
    [count("update"), "to change"],
    [count("delete"), "to delete"],
    [count("unchanged"), "unchanged"],
    [count("extra"), "not in pd.yaml"],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  printLine(cli, told.length === 0 ? "Nothing in pd.yaml, and nothing on the server" : told.join(", "));
}

async function isWanted(cli: CliContext, flags: ApplyFlags, open: readonly Step[]): Promise<boolean> {
  const deleted = open.filter(({ action }) => action === "delete").length;
  const question = deleted === 0 ? "Apply this?" : `Apply this, and delete ${deleted} for good?`;
  return isAgreed(cli, {
    ...flags,
    yes: flags.yes,
    question,
    attempted: `apply ${open.length} change${open.length === 1 ? "" : "s"}`,
    isUsual: deleted === 0 && open.every(({ rights = [] }) => rights.length === 0),
  });
}

function grantingOf(steps: readonly Step[], { allowRun, allowAddons, prompt }: ApplyFlags) {
  return { granted: steps.map(({ name, rights = [] }) => ({ slug: name, rights })), allowRun, allowAddons, prompt };
}

const DONE: Readonly<Record<StepAction, string>> = { create: "Created", update: "Changed", delete: "Deleted", unchanged: "Left", extra: "Left" };

/** After a failure, other steps run, but nothing is deleted. */
async function carryOut(cli: CliContext, open: readonly Step[]): Promise<ReadonlyMap<Step, unknown>> {
  const failures = new Map<Step, unknown>();
  for (const step of open) {
    const { kind, name, action } = step;
    // Its replacement may have failed.
    if (action === "delete" && failures.size > 0) {
      failures.set(step, new PdError("PD_CONFLICT", `Cannot delete ${kind} ${name}: an earlier step failed`, { fix: "Fix that step, and apply again" }));
      if (!cli.isJson) printNote(cli, `Not deleted: ${kind} ${name}, because an earlier step failed`);
      continue;
    }
    try {
      await withSpinner(cli, `${kind} ${name}`, step.perform());
      if (!cli.isJson) printLine(cli, `${DONE[action]} ${kind} ${name}`);
    } catch (error) {
      failures.set(step, error);
      if (!cli.isJson) printNote(cli, `Not ${DONE[action].toLowerCase()}: ${kind} ${name}`);
      if (!cli.isJson) printError(cli, error);
    }
  }
  if (failures.size > 0 && !cli.isJson) printNote(cli, `${failures.size} of ${open.length} changes failed; fix them and apply again`);
  return failures;
}
