import { PdError } from "../../../domain/errors.ts";
import { granted } from "../../../domain/source/process-grant.ts";
import { bindingOf } from "../../../domain/workflow/binding.ts";
import type { Tracked } from "../../../ports/progress.ts";
import { type BuildWishes, type WorkflowBuildPorts, type WorkflowFiles, buildWorkflow } from "../deploying/build-workflow.ts";
import { type StepFacts, carriedOver, firstChanged } from "../../../domain/workflow/rerun.ts";
import { type RunState, type StepRecord, type WorkflowRun, hasEnded } from "../../../domain/workflow/run.ts";
import { everyStep } from "../../../domain/workflow/workflow.ts";
import type { LiveWorkflow, WorkflowPorts } from "./live-workflow.ts";
import type { WorkflowPlan } from "../plan.ts";
import { type DryPorts, type RehearsalPorts, type RunRehearsal, dryPorts, isThat, itemsOf, rehearseRun } from "./rehearse-run.ts";

const MOST_IN_BULK = 10_000;
/** Each dry run starts its own processes. */
const MOST_REHEARSED = 100;

export interface RerunWishes {
  /** Namespace. Omitted to continue after the steps that had ended. */
  readonly from?: string | undefined;
  /** Starts from the first step that has changed since the run, otherwise from where the run failed. */
  readonly isFromChanged?: boolean;
}

export interface BulkWishes extends Pick<RerunWishes, "from"> {
  readonly states: readonly RunState[];
  /** Epoch ms. */
  readonly since: number;
}

export interface DryRunWishes extends Pick<RerunWishes, "from"> {
  /** Runs the step `from` and no other. */
  readonly isAlone?: boolean | undefined;
  /** In a loop, the path of one of the step's records. The failed one, or the last, by default. */
  readonly path?: string | undefined;
  /** A folder that is not deployed, in place of the current one. */
  readonly files?: WorkflowFiles | undefined;
  readonly asksThirdParties?: boolean | undefined;
  readonly progress?: Tracked["progress"];
}

export interface RehearsedRun {
  readonly run: WorkflowRun;
  readonly before: readonly StepRecord[];
  readonly after: RunRehearsal;
}

type RepeatPorts = WorkflowPorts &
  RehearsalPorts &
  WorkflowBuildPorts & { readonly store: WorkflowPorts["store"] & RehearsalPorts["store"] & WorkflowBuildPorts["store"] };

interface RunLookup {
  /** Throws PD_WORKFLOW_NOT_FOUND. */
  workflowOf(run: WorkflowRun): LiveWorkflow;
  inTurn<Value>(live: LiveWorkflow, change: () => Promise<Value>): Promise<Value>;
}

export class Repeats {
  readonly #ports: RepeatPorts;
  readonly #lookup: RunLookup;

  constructor(ports: RepeatPorts, lookup: RunLookup) {
    this.#ports = ports;
    this.#lookup = lookup;
  }

  /** Uses the current files, and the results of the steps before `from`. Throws PD_BAD_INPUT, PD_CONFLICT. */
  async rerun(run: WorkflowRun, { from: wanted, isFromChanged = false }: RerunWishes): Promise<WorkflowRun> {
    const live = this.#lookup.workflowOf(run);
    const plan = await live.plan();
    const { workflow } = plan;
    if (!hasEnded(run)) {
      if (!isFromChanged)
        throw new PdError("PD_CONFLICT", `Cannot rerun ${run.id}: it is ${run.state}`, {
          fix: `pd resume ${run.id}, or pd cancel ${run.id} first`,
        });
      await live.cancel(run.id, "it was rerun on newer files");
    }
    const from = isFromChanged ? firstChanged(factsOf(await live.plan(run.version)), factsOf(plan)) : wanted;
    checkFrom(plan, { from, run, slug: live.source.slug, isFromChanged });
    const records = carriedOver(workflow.steps, await this.#ports.store.stepRecords(run.id), { from, of: run.id });
    const { messageId: _own, ...trigger } = run.trigger;
    return live.start(trigger, { rerunOf: run.id, ...(from === undefined ? {} : { from }), records });
  }

  /** Only those that have not been rerun, oldest first. */
  async rerunAll(live: LiveWorkflow, { states, since, from }: BulkWishes): Promise<readonly WorkflowRun[]> {
    checkBulk(states, from);
    // Two commands must not rerun the same run.
    return this.#lookup.inTurn(live, async () => {
      const found = await this.#ports.store.listRuns(live.id, { limit: MOST_IN_BULK, states, since, isLatest: true });
      const begun: WorkflowRun[] = [];
      for (const run of found.toReversed()) begun.push(await this.rerun(run, { from }));
      return begun;
    });
  }

  /** Dry run of `rerunAll`. */
  async rehearseAll(live: LiveWorkflow, { states, since, from }: BulkWishes): Promise<readonly RehearsedRun[]> {
    checkBulk(states, from);
    const found = await this.#ports.store.listRuns(live.id, { limit: MOST_REHEARSED, states, since, isLatest: true });
    const rehearsed: RehearsedRun[] = [];
    for (const before of found.toReversed()) {
      if (this.#ports.signal.aborted) break;
      rehearsed.push(await this.#rehearse(live, before, { from }));
    }
    return rehearsed;
  }

  /** Throws PD_WORKFLOW_NOT_FOUND, PD_BAD_INPUT, and what building `files` throws. */
  rehearse(run: WorkflowRun, wishes: DryRunWishes): Promise<RehearsedRun> {
    return this.#rehearse(this.#lookup.workflowOf(run), run, wishes);
  }

  async #rehearse(
    live: LiveWorkflow,
    run: WorkflowRun,
    { from, isAlone = false, path, files, asksThirdParties = false, progress }: DryRunWishes,
  ): Promise<RehearsedRun> {
    if (isAlone && from === undefined) throw new PdError("PD_BAD_INPUT", `Cannot try one step of ${run.id}: no step is named`, { fix: "Name it in from" });
    const dry = dryPorts(this.#ports, { asksThirdParties });
    try {
      const current = await live.plan();
      const plan = files === undefined ? current : await this.#built(dry, live, { files, before: current, progress });
      checkFrom(plan, { from, run, slug: live.source.slug });
      const before = await this.#ports.store.stepRecords(run.id);
      const only = isAlone && from !== undefined ? { namespace: from, items: itemsIn(path ?? usualPath(before, from)) } : undefined;
      const usual = carriedOver(plan.workflow.steps, before, { from, of: run.id });
      // Other items of its loops count as done, so that this one is next.
      const all = only === undefined ? usual : carriedOver(plan.workflow.steps, before, { from: undefined, of: run.id });
      const carried = all.filter((record) => only === undefined || !isThat(only, record));
      const { host } = live;
      // The debugger is for real runs only.
      const { debug: _link, ...surroundings } = live.surroundings(plan);
      const after = await rehearseRun(dry, { host, plan, surroundings, run, before, carried, only });
      const shown = new Set(usual.map((record) => record.path));
      return { run, before, after: { ...after, steps: after.steps.filter(({ copiedFrom, path: at }) => copiedFrom === undefined || shown.has(at)) } };
    } finally {
      dry.bench.close();
    }
  }

  #built(dry: DryPorts, live: LiveWorkflow, wishes: Pick<BuildWishes, "files" | "before" | "progress">): Promise<WorkflowPlan> {
    const { env, configured, settings } = live.source;
    const grant = granted({ allowsPrograms: settings.allow_run, ...bindingOf(configured).limits });
    return buildWorkflow({ ...this.#ports, workbench: dry.bench }, { ...wishes, env, grant });
  }
}

function itemsIn(path: string | undefined): string | undefined {
  return path === undefined ? undefined : itemsOf(path);
}

/** Undefined when the run has not reached the step. */
function usualPath(records: readonly StepRecord[], namespace: string): string | undefined {
  const own = records.filter((record) => record.namespace === namespace);
  return (own.find(({ state }) => state === "failed") ?? own.at(-1))?.path;
}

interface Start {
  readonly from: string | undefined;
  readonly run: WorkflowRun;
  readonly slug: string;
  readonly isFromChanged?: boolean;
}

/** Throws PD_BAD_INPUT. */
function checkFrom({ workflow }: WorkflowPlan, { from, run, slug, isFromChanged = false }: Start): void {
  const names = [...everyStep(workflow.steps)].map(({ namespace }) => namespace);
  if (from !== undefined && !names.includes(from))
    throw new PdError("PD_BAD_INPUT", `Cannot rerun ${run.id} from "${from}": ${slug} has the steps ${names.join(", ")}`);
  if (from === undefined && run.state === "succeeded" && !isFromChanged)
    throw new PdError("PD_BAD_INPUT", `Cannot rerun ${run.id} from where it failed: it succeeded`, { fix: `Name the step: --from ${names[0] ?? ""}` });
}

/** Throws PD_BAD_INPUT. */
function checkBulk(states: readonly RunState[], from: string | undefined): void {
  const open = states.filter((state) => !hasEnded({ state }));
  if (open.length > 0) throw new PdError("PD_BAD_INPUT", `Cannot rerun runs that are ${open.join(" or ")}: they have not ended`);
  if (from === undefined && states.includes("succeeded"))
    throw new PdError("PD_BAD_INPUT", "Cannot rerun succeeded runs from where they failed", { fix: "Name the step: --from <step>" });
}

function factsOf({ workflow, steps }: WorkflowPlan): StepFacts {
  return { steps: workflow.steps, codeOf: (namespace) => steps.get(namespace)?.hash };
}
