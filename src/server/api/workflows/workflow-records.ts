import type {
  ForeignId,
  RehearsedRunRecord,
  RunRecord,
  RunStepRecord,
  StepShape,
  WorkflowRecord,
  WorkflowTriggerRecord,
  WorkflowVersionRecord,
} from "../../../api/workflows.ts";
import { PdError } from "../../../domain/errors.ts";
import { describeEvent } from "../../../domain/run/arrival.ts";
import { type RunError, describeOutcome } from "../../../domain/run/invocation.ts";
import { unsentMails } from "../../../domain/account/mail.ts";
import { type JsonObject, type JsonValue, textAsJson } from "../../../domain/text/json.ts";
import { propFacts } from "../../../domain/props/declared-props.ts";
import { type PropDeclaration, kindOf } from "../../../domain/props/kinds.ts";

import { shownValue } from "../../../domain/props/secret-props.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import { describeSchedule, overProblem, parseTimer, scheduleInput } from "../../../domain/timer/schedule.ts";
import { STARS } from "../../../domain/account/secrets.ts";
import type { SourceVersion } from "../../../domain/source/source-version.ts";
import { type WorkflowLimits, bindingOf } from "../../../domain/workflow/binding.ts";
import type { StepRecord, WorkflowRun } from "../../../domain/workflow/run.ts";
import { type CodeStep, type Step, type WorkflowTrigger, innerLists } from "../../../domain/workflow/workflow.ts";
import type { Engine } from "../../../engine/engine.ts";
import { accountsIn } from "../../../engine/workflows/plan.ts";
import { storesIn } from "../../../engine/workflows/deploying/bind-stores.ts";
import { LiveWorkflow } from "../../../engine/workflows/running/live-workflow.ts";
import type { UnreadableWorkflow } from "../../../engine/workflows/unreadable-workflows.ts";
import type { WorkflowPlan } from "../../../engine/workflows/plan.ts";
import type { PlannedFolder } from "../../../engine/workflows/deploying/plan-workflow.ts";
import type { WorkflowPlanRecord } from "../../../api/workflows.ts";
import type { RehearsedRun } from "../../../engine/workflows/running/repeats.ts";
import { lineRecord, seconds } from "../records.ts";

export async function workflowRecord(engine: Engine, live: LiveWorkflow): Promise<WorkflowRecord> {
  const { source } = live;
  const plan = await live.plan();
  const { concurrency, queue, throttle, retries, timeout, records } = plan.workflow.settings;
  return {
    id: source.id,
    name: source.name,
    name_slug: source.slug,
    owner_id: engine.owner.userId,
    active: source.active,
    version: source.version,
    created_at: seconds(source.createdAt),
    updated_at: seconds(source.updatedAt),
    env: Object.keys(source.env),
    ...source.settings,
    ...limitRecord(bindingOf(source.configured).limits),
    settings: {
      concurrency,
      retries,
      timeout: bindingOf(source.configured).limits.timeoutSeconds ?? timeout,
      record: records,
      ...(queue === undefined ? {} : { queue }),
      ...(throttle === undefined ? {} : { throttle: { ...throttle } }),
    },
    accounts: { ...bindingOf(source.configured).accounts },
    foreign: await foreignIds(engine, live, plan),
    warnings: [
      ...plan.code.definition.warnings,
      ...bindingOf(source.configured).warnings,
      ...live.unmetWishes(plan),
      ...deletedEmitters(engine, live, plan),
      ...(await overSchedules(engine, live)),
    ],
    runs: { ...(await engine.workflows.counts(live)) },
    triggers: await triggerRecords(engine, live, plan),
    steps: stepShapes(plan),
  };
}

export function stepShapes({ workflow, steps }: WorkflowPlan): StepShape[] {
  return workflow.steps.map((step) => stepShape(step, steps));
}

function errorRecord({ causes, ...error }: RunError): JsonObject {
  return { ...error, ...(causes === undefined ? {} : { causes: [...causes] }) };
}

function limitRecord({ allowsAddons, memoryMb, timeoutSeconds }: WorkflowLimits): Partial<WorkflowRecord> {
  return {
    ...(allowsAddons === true ? { allow_addons: true } : {}),
    ...(memoryMb === undefined ? {} : { memory_mb: memoryMb }),
    ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
  };
}

/** An unreadable workflow can be deleted, and must not hide the others. */
export async function shownWorkflow(engine: Engine, live: LiveWorkflow | UnreadableWorkflow): Promise<WorkflowRecord> {
  if (!(live instanceof LiveWorkflow)) return unreadableRecord(engine, live);
  const { name, slug, version, createdAt } = live.source;
  return workflowRecord(engine, live).catch((error: unknown) => {
    if (!(error instanceof PdError) || error.code !== "PD_DATABASE_DAMAGED") throw error;
    return unreadableRecord(engine, { id: live.id, name, slug, version, createdAt, problem: error.message });
  });
}

function unreadableRecord(engine: Engine, { id, name, slug, version, createdAt, problem }: UnreadableWorkflow): WorkflowRecord {
  return {
    id,
    name,
    name_slug: slug,
    owner_id: engine.owner.userId,
    active: false,
    version,
    created_at: seconds(createdAt),
    updated_at: seconds(createdAt),
    env: [],
    settings: {},
    accounts: {},
    foreign: [],
    warnings: [problem],
    runs: { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 },
    triggers: [],
    steps: [],
  };
}

async function foreignIds(engine: Engine, live: LiveWorkflow, plan: WorkflowPlan): Promise<ForeignId[]> {
  const { accounts, stores, sources, schedules, triggers: ids } = bindingOf(live.source.configured);
  const named = await engine.accounts.list(undefined);
  const own = engine.workflows.triggersOf(live);
  const byTrigger = plan.workflow.triggers.flatMap((trigger, index): ForeignId[] => {
    const usedBy = { used_by: ["trigger"] };
    if (trigger.kind === "events") {
      const emitter = ids[index];
      const there = emitter !== undefined && engine.deployed.has(emitter) ? engine.deployed.find(emitter, "show").slug : undefined;
      const isForeign = sources[trigger.emitter] !== undefined || there === undefined;
      return isForeign ? [{ id: trigger.emitter, kind: "source", ...usedBy, ...(there === undefined ? {} : { here: there }) }] : [];
    }
    if (trigger.id === undefined) return [];
    if (trigger.kind === "http") return [{ id: trigger.id, kind: "endpoint", ...usedBy, here: own.find(({ outline }) => outline.id === ids[index])?.endpoint }];
    const schedule = schedules[trigger.id];
    const parsed = schedule === undefined ? trigger.schedule : parseTimer(schedule);
    const here = parsed === undefined || typeof parsed === "string" ? undefined : describeSchedule("schedule" in parsed ? parsed.schedule : parsed);
    return [{ id: trigger.id, kind: "schedule", ...usedBy, here }];
  });
  return [
    ...accountsIn(plan).flatMap(({ id, steps }): ForeignId[] => {
      const account = accounts[id];
      const here = named.find((one) => one.id === account)?.name ?? account;
      return account === undefined ? [] : [{ id, kind: "account", used_by: [...steps], here }];
    }),
    ...storesIn(plan).map(({ id, steps }): ForeignId => ({ id, kind: "data store", used_by: [...steps], here: stores[id] })),
    ...byTrigger,
  ];
}

function deletedEmitters(engine: Engine, live: LiveWorkflow, { workflow }: WorkflowPlan): readonly string[] {
  const { triggers: ids } = bindingOf(live.source.configured);
  return workflow.triggers.flatMap((trigger, index) => {
    const id = ids[index];
    if (trigger.kind !== "events" || id === undefined || engine.deployed.has(id)) return [];
    return [`${trigger.emitter}, whose events start its runs, was deleted (${id}): deploy another one and then the workflow again, or map it with --source`];
  });
}

async function overSchedules(engine: Engine, live: LiveWorkflow): Promise<readonly string[]> {
  if (!live.source.active) return [];
  const triggers = engine.workflows.triggersOf(live);
  const over = (await engine.sources.timersOf(triggers)).filter(({ nextAt }) => nextAt === undefined);
  const unreadable = await engine.sources.unreadableTimersOf(triggers);
  return [
    ...over.map(({ schedule }) => `its schedule ${overProblem(schedule)}`),
    ...unreadable.map(
      ({ problem }) => `a schedule of it does not fire: its timer cannot be read (${problem}). Deactivate and activate it to schedule it again`,
    ),
  ];
}

async function triggerRecords(engine: Engine, live: LiveWorkflow, { workflow }: WorkflowPlan): Promise<WorkflowTriggerRecord[]> {
  const { triggers: ids } = bindingOf(live.source.configured);
  const own = engine.workflows.triggersOf(live);
  const timers = await engine.sources.timersOf(own);
  return workflow.triggers.map((trigger, index) => {
    const id = ids[index] !== undefined && engine.deployed.has(ids[index]) ? ids[index] : undefined;
    const found = own.find(({ outline }) => outline.id === id);
    const next = timers.find(({ sourceId }) => sourceId === id)?.nextAt;
    return {
      ...(id === undefined ? {} : { id }),
      kind: trigger.kind,
      owner_id: engine.owner.userId,
      active: live.source.active && id !== undefined,
      ...(found === undefined ? {} : { name: found.outline.name }),
      ...triggerFacts(trigger),
      ...(found !== undefined && trigger.kind === "http" ? { endpoint_url: found.endpoint } : {}),
      ...(next === undefined ? {} : { next_at_ms: next }),
    };
  });
}

function triggerFacts(trigger: WorkflowTrigger): Partial<WorkflowTriggerRecord> {
  switch (trigger.kind) {
    case "http":
      return trigger.customResponse === undefined ? {} : { custom_response: trigger.customResponse };
    case "schedule":
      return trigger.schedule === undefined ? {} : { configured_props: { timer: { ...scheduleInput(trigger.schedule) } } };
    case "events":
      return { emitter: trigger.emitter, ...(trigger.channel === "" ? {} : { event_name: trigger.channel }) };
  }
}

function stepShape(step: Step, components: ReadonlyMap<string, SavedComponent>): StepShape {
  const { namespace, kind, line } = step;
  const base = { namespace, kind, line, disabled: false } as const;
  if (step.kind === "code") return { ...base, ...codeShape(step, components.get(namespace)) };
  const value = step.kind === "if" ? step.condition : step.kind === "switch" ? step.value : step.kind === "for_each" ? step.items : undefined;
  const branches = innerLists(step).map(({ name, steps }) => ({ name, steps: steps.map((inner) => stepShape(inner, components)) }));
  return { ...base, type: "ControlFlow", ...(value === undefined ? {} : { value }), branches };
}

/** Hides secrets: a reader of this record may not be allowed to read the files. */
function codeShape({ code, props }: CodeStep, component: SavedComponent | undefined) {
  const saved = component && {
    id: component.id,
    codeHash: component.hash,
    configurableProps: component.definition.props.map((prop) => ({ ...propFacts(prop) })),
    version: component.definition.version,
  };
  const isOfRegistry = code.kind === "registry";
  return {
    type: "CodeCell",
    lang: "nodejs",
    ...(saved === undefined ? {} : { savedComponent: saved }),
    ...(isOfRegistry ? { component_key: code.key } : { component_path: code.path }),
    configured_props_json: JSON.stringify(shownProps(props, component)),
  };
}

function shownProps(props: CodeStep["props"], component: SavedComponent | undefined): JsonObject {
  const declared = new Map(component?.definition.props.map((prop) => [prop.name, prop]));
  return Object.fromEntries(Object.entries(props).map(([name, value]) => [name, shownProp(value, declared.get(name))]));
}

/** The path of a value: it may refer to a secret but does not contain it. */
const PATH = /^\s*\{\{(?:[\w$.?\s]|\[\s*(?:\d+|"[^"]*"|'[^']*')\s*\])*\}\}\s*$/;

/** Whether an undeclared prop is secret is known only in a run. */
function shownProp(value: JsonValue | undefined, declaration: PropDeclaration | undefined): JsonValue | undefined {
  if (typeof value === "string" && PATH.test(value)) return value;
  if (declaration === undefined || value === undefined) return STARS;
  if (declaration.kind === "user" || typeof value !== "string") return shownValue(declaration, value, "") ?? STARS;
  const read = textAsJson(value);
  // The text becomes JSON only when its expressions are evaluated.
  if (typeof read === "string" && kindOf(declaration).secret !== undefined) return STARS;
  const shown = shownValue(declaration, read, "");
  return shown === read ? value : (shown ?? STARS);
}

type RunDetails = { readonly withEvent?: boolean; readonly rerunAs?: Pick<WorkflowRun, "id" | "state"> | undefined };

export function runRecord(run: WorkflowRun, { withEvent = false, rerunAs }: RunDetails = {}): RunRecord {
  const { kind, event, emitterId, channel } = run.trigger;
  const arrived = describeEvent(event);
  return {
    id: run.id,
    workflow_id: run.workflowId,
    version: run.version,
    state: run.state,
    trigger: {
      kind,
      ...(withEvent ? { event } : {}),
      ...(emitterId === undefined ? {} : { emitter_id: emitterId }),
      ...(channel === undefined || channel === "" ? {} : { event_name: channel }),
    },
    ...(arrived === "" ? {} : { arrived }),
    started_at_ms: run.startedAt,
    ...(run.endedAt === undefined ? {} : { ended_at_ms: run.endedAt }),
    ...(run.failure === undefined ? {} : { failure: { ...run.failure } }),
    ...(run.reason === undefined ? {} : { reason: run.reason }),
    ...(run.rerunOf === undefined ? {} : { rerun_of: run.rerunOf }),
    ...(rerunAs === undefined ? {} : { rerun_as: { ...rerunAs } }),
    ...(run.from === undefined ? {} : { from: run.from }),
  };
}

/** `addressOf` is undefined for read-only keys, because the addresses can change the run. */
export function runStepRecord(record: StepRecord, addressOf: ((name: "resume" | "cancel", token: string) => string) | undefined): RunStepRecord {
  const { outcome, pause, decision, inputs, sends, copiedFrom, invocationId } = record;
  const { path, namespace, state, attempt, runs, startedAt } = record;
  return {
    path,
    namespace,
    state: state === "done" && unsentMails(sends).length > 0 ? "not sent" : state,
    attempt,
    runs,
    exports: shownExports(record, addressOf !== undefined),
    outcome: outcome.kind,
    message: describeOutcome(outcome),
    started_at_ms: startedAt,
    duration_ms: record.durationMs,
    ...(inputs === undefined ? {} : { inputs }),
    ...(decision === undefined ? {} : { decision }),
    ...(outcome.kind === "threw" ? { error: errorRecord(outcome.error) } : {}),
    ...(invocationId === undefined ? {} : { invocation_id: invocationId }),
    ...(sends === undefined ? {} : { sends: [...sends] }),
    ...(copiedFrom === undefined ? {} : { copied_from: copiedFrom }),
    ...(pause === undefined
      ? {}
      : {
          pause: {
            kind: pause.kind,
            until_ms: pause.until,
            ...(addressOf === undefined ? {} : { resume_url: addressOf("resume", pause.token), cancel_url: addressOf("cancel", pause.token) }),
          },
        }),
  };
}

function shownExports({ exports, state }: StepRecord, mayChange: boolean): RunStepRecord["exports"] {
  const { $attempt: _addresses, ...rest } = exports;
  return mayChange || state !== "waiting" ? exports : rest;
}

export function rehearsedRecord({ run, before, after }: RehearsedRun): RehearsedRunRecord {
  const { state, failure, reason } = after.run;
  const steps = after.steps.map((step) => runStepRecord(step, undefined));
  return {
    run: runRecord(run),
    before: before.map((step) => runStepRecord(step, undefined)),
    after: {
      state,
      ...(failure === undefined ? {} : { failure: { ...failure } }),
      ...(reason === undefined ? {} : { reason }),
      steps,
      logs: after.logs.map(lineRecord),
    },
  };
}

/** `versions`: newest first. */
export function workflowVersionRecords(versions: readonly SourceVersion[], current: number): WorkflowVersionRecord[] {
  return versions.map(({ number, componentId, hash, at }) => {
    const first = versions.findLast((known) => known.componentId === componentId);
    const same = first === undefined || first.number === number ? {} : { same_as: first.number };
    return { number, code_hash: hash, since_ms: at, current: number === current, ...same };
  });
}

export function planRecord({ name, isInactive, failures, warnings, ids, components, variables }: PlannedFolder): WorkflowPlanRecord {
  return {
    name,
    inactive: isInactive,
    problems: failures.map(({ code, message, fix }) => ({ code, message, fix })),
    warnings: [...warnings],
    foreign: ids.map(({ id, kind, app, usedBy, here }) => ({ id, kind, app, used_by: [...usedBy], here })),
    components: components.map(({ step, key, version, origin }) => ({ step, key, version, from: origin.kind === "registry" ? origin.registry : "here" })),
    variables: [...variables],
  };
}
