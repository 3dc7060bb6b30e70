import { PdError } from "../../../domain/errors.ts";
import { type InvocationId, type RunId, invocationId } from "../../../domain/ids.ts";
import { type HttpResponse, type Invocation, type LogLine, type RunResult, describeOutcome } from "../../../domain/run/invocation.ts";
import type { JsonObject, JsonValue } from "../../../domain/text/json.ts";
import { MOST_TRIES, type Tries, isDeath, reasonToRunAgain } from "../../../domain/run/run-again.ts";
import type { StepTrigger } from "../../../domain/run/trigger.ts";
import { type Loops, type Progress, type StepCall, type StepResult, advance } from "../../../domain/workflow/advance.ts";
import { MOST_ITEMS, type StepRecord, type WorkflowRun, hasEnded, resultOf } from "../../../domain/workflow/run.ts";
import type { CodeStep, Step } from "../../../domain/workflow/workflow.ts";
import type { StepCommit } from "../../../ports/stores/workflow-store.ts";
import type { StepCalled, StepTerms } from "./call-step.ts";
import type { WorkflowPlan } from "../plan.ts";
import { type WaitAddresses, judgeStep } from "./step-record.ts";

export interface RunHost {
  readonly signal: AbortSignal;
  /** Of each step, in place of what the file says. */
  readonly retries?: number;
  /** False for a step that is left out. Steps that need it are then left out too. */
  mayBegin?(step: Step, path: string): boolean;
  now(): number;
  random(): number;
  randomText(length: number): string;
  read(id: RunId): Promise<{ run: WorkflowRun; records: readonly StepRecord[] } | undefined>;
  plan(version: number): Promise<WorkflowPlan>;
  call(
    run: WorkflowRun,
    calling: {
      readonly plan: WorkflowPlan;
      readonly step: CodeStep;
      readonly path: string;
      readonly steps: JsonObject;
      readonly context: JsonObject;
      readonly terms: StepTerms;
    },
  ): Promise<StepCalled>;
  decide(run: WorkflowRun, given: { readonly value: JsonValue; readonly steps: JsonObject }): Promise<JsonValue | undefined>;
  commit(step: StepCommit, invocation: Omit<Invocation, "durationMs" | "outcome" | "eventCount" | "dropped">, result: RunResult): Promise<void>;
  noteRun(run: WorkflowRun): Promise<void>;
  noteBegun(run: WorkflowRun, record: StepRecord): Promise<void>;
  addresses(token: string): WaitAddresses;
  /** `$.context` of a step, without the facts about its tries. */
  context(run: WorkflowRun): JsonObject;
  triggerContext(run: WorkflowRun): JsonObject;
  observe(id: InvocationId, trigger: StepTrigger, at: number): void;
  observeLine(id: InvocationId, line: LogLine): void;
  /** Undefined when the run does not respond to its HTTP client. */
  answer(run: WorkflowRun, response: HttpResponse | undefined): void;
  /** No step is in flight and none will follow. */
  ended(run: WorkflowRun): Promise<void>;
  /** A token may be used while its step still runs. */
  expect<Value>(token: string, run: WorkflowRun, work: () => Promise<Value>): Promise<Value>;
}

/**
 * Calls the steps that are ready and commits their results, until nothing is left to do now. All its knowledge is in
 * the store, so another instance can continue the run.
 */
export class LiveRun {
  readonly id: RunId;
  readonly #host: RunHost;
  readonly #records = new Map<string, StepRecord>();
  readonly #results = new Map<string, StepResult>();
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #loops: Loops = new Map();
  #takenEarly = 0;
  #trigger: JsonObject | undefined;
  #run: WorkflowRun | undefined;
  #plan: WorkflowPlan | undefined;
  #response: JsonObject | undefined;
  #broken: { readonly error: unknown } | undefined;
  #isCancelled = false;
  #isOver = false;
  #nudge: () => void = () => {};

  constructor(host: RunHost, id: RunId, begun?: WorkflowRun) {
    this.#host = host;
    this.id = id;
    this.#run = begun;
  }

  /** Resolves when the run has ended or waits. Throws PD_STOPPING, PD_NOT_STORED and the like; the run then continues from what is stored. */
  async work(): Promise<void> {
    try {
      await this.#load();
      for (;;) {
        for (const call of this.#ready()) this.#begin(call);
        if (this.#inFlight.size === 0) break;
        const nudged = new Promise<void>((resolve) => (this.#nudge = resolve));
        await Promise.race([nudged, ...this.#inFlight.values()]);
      }
    } finally {
      this.#isOver = true;
    }
    if (this.#broken !== undefined) throw this.#broken.error;
    await this.#rest();
  }

  /** The record's wait is over. Returns false when `work` has ended. */
  take(record: StepRecord): boolean {
    if (this.#isOver) return false;
    this.#note(record);
    if (this.#run === undefined) this.#takenEarly++;
    else if (!hasEnded(this.#run)) this.#run = { ...this.#run, state: "running", wakes: this.#run.wakes + 1 };
    this.#nudge();
    return true;
  }

  /** Lets calls in flight end and starts no others. */
  cancel(): void {
    this.#isCancelled = true;
    this.#nudge();
  }

  async #load(): Promise<void> {
    const found = this.#run === undefined ? await this.#read() : { run: this.#run, records: [] };
    this.#plan = await this.#host.plan(found.run.version);
    // Records taken during the read are newer.
    for (const record of [...found.records, ...this.#records.values()]) this.#note(record);
  }

  /** Repeats when a record was taken during the read. */
  async #read(): Promise<{ run: WorkflowRun; records: readonly StepRecord[] }> {
    for (;;) {
      const taken = this.#takenEarly;
      const found = await this.#host.read(this.id);
      if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot continue run ${this.id}: it was deleted`);
      if (taken !== this.#takenEarly) continue;
      this.#run = found.run;
      return found;
    }
  }

  #note(record: StepRecord): void {
    this.#records.set(record.path, record);
    const result = resultOf(record);
    if (result === undefined) this.#results.delete(record.path);
    else this.#results.set(record.path, result);
  }

  get #known(): { run: WorkflowRun; plan: WorkflowPlan } {
    if (this.#run === undefined || this.#plan === undefined) throw new Error(`${this.id} was worked on before it was read`);
    return { run: this.#run, plan: this.#plan };
  }

  #progress(): Progress {
    const { run, plan } = this.#known;
    return advance(plan.workflow.steps, { results: this.#results, trigger: this.#triggerOf(run), loops: this.#loops });
  }

  #triggerOf(run: WorkflowRun): JsonObject {
    this.#trigger ??= { event: run.trigger.event, context: this.#host.triggerContext(run) };
    return this.#trigger;
  }

  #ready(): readonly StepCall[] {
    const { run } = this.#known;
    if (hasEnded(run) || this.#isCancelled || this.#expired !== undefined || this.#broken !== undefined || this.#host.signal.aborted) return [];
    return this.#progress().ready.filter(
      ({ path, step }) => !this.#inFlight.has(path) && this.#records.get(path)?.state !== "waiting" && this.#host.mayBegin?.(step, path) !== false,
    );
  }

  get #expired(): StepRecord | undefined {
    return [...this.#records.values()].find(({ isExpired }) => isExpired === true);
  }

  #begin(call: StepCall): void {
    const done = (call.step.kind === "code" ? this.#runStep(call, call.step) : this.#decide(call, call.step))
      .catch((error: unknown) => void (this.#broken ??= { error }))
      .finally(() => this.#inFlight.delete(call.path));
    this.#inFlight.set(call.path, done);
  }

  /** Stores the result when no step has. */
  async #rest(): Promise<void> {
    const host = this.#host;
    const { run } = this.#known;
    if (!hasEnded(run) && !this.#isCancelled && host.signal.aborted) throw new PdError("PD_STOPPING", `Run ${this.id} waits for the next start of the server`);
    const after = this.#stateAfter();
    if (after !== run && !this.#isCancelled) await host.noteRun(after);
    if (hasEnded(after) || this.#isCancelled) await host.ended(after);
    const { status, headers, body, encoding } = this.#response ?? {};
    host.answer(run, status === undefined ? undefined : httpResponse({ status, headers, body, encoding }));
  }

  async #runStep({ path, steps }: StepCall, step: CodeStep): Promise<void> {
    const { run, plan } = this.#known;
    const host = this.#host;
    const before = this.#records.get(path);
    const isAgain = before?.state === "again";
    const attempt = (before?.attempt ?? 1) + (isAgain && before.pause?.kind === "retry" ? 1 : 0);
    const runs = (before?.runs ?? 1) + (isAgain && before.pause?.kind === "rerun" ? 1 : 0);
    const wanted = host.retries ?? step.retries ?? plan.workflow.settings.retries;
    const [isOnce, retries] = [wanted === 0, wanted ?? 0];
    const [id, token, startedAt] = [invocationId(host.now(), host.randomText(8)), host.randomText(32), host.now()];
    const tried = { path, namespace: step.namespace, attempt, runs, startedAt, invocationId: id };
    const trigger: StepTrigger = { kind: "step", runId: run.id, path, namespace: step.namespace, attempt };
    const addresses = host.addresses(token);
    const context = { ...host.context(run), ...addresses, attempt, run: runContext(runs, before) };
    if (isOnce && before?.state !== "begun") await host.noteBegun(run, { ...tried, state: "begun", exports: {}, outcome: CUT_OFF, durationMs: 0 });
    host.observe(id, trigger, startedAt);
    const report = {
      log: (line: LogLine) => host.observeLine(id, line),
      respond: (response: HttpResponse | { readonly problem: string }) => ("problem" in response ? undefined : host.answer(run, response)),
    };
    const terms: StepTerms = { id, report };
    await host.expect(token, run, async () => {
      const called =
        isOnce && before?.state === "begun"
          ? { result: { outcome: CUT_OFF, emits: [], stateChanges: {}, logs: [] }, inputs: {} }
          : await this.#call(trigger, { step, steps, context, terms, mayRepeat: !isOnce }).catch((error: unknown) => this.#notCalled(error, tried));
      const end = judgeStep(called, { record: tried, token, addresses, retries, now: host.now(), random: host.random() });
      this.#response = end.response ?? this.#response;
      await this.#commit(end.record, { id, trigger, result: called.result, reason: end.reason, recording: end.recording });
    });
  }

  /** The step was not called, so it may run next time even when it may not run twice. After a stop this is not certain. */
  async #notCalled(error: unknown, tried: Omit<StepRecord, "state" | "exports" | "outcome" | "durationMs">): Promise<never> {
    const isCutOff = error instanceof PdError && error.code === "PD_STOPPING";
    if (!isCutOff) await this.#host.noteBegun(this.#known.run, { ...tried, state: "again", exports: {}, outcome: CUT_OFF, durationMs: 0 });
    throw error;
  }

  /** Retries when the step is not to blame. */
  async #call(
    trigger: StepTrigger,
    { mayRepeat, ...calling }: { step: CodeStep; steps: JsonObject; context: JsonObject; terms: StepTerms; mayRepeat: boolean },
  ): Promise<StepCalled> {
    const { run, plan } = this.#known;
    const notes: LogLine[] = [];
    let tries: Tries = { count: 1, deathsAlone: 0 };
    for (;;) {
      const called = await this.#host.call(run, { plan, path: trigger.path, ...calling });
      const { result } = called;
      if (result.outcome.kind === "interrupted" && this.#host.signal.aborted)
        throw new PdError("PD_STOPPING", `A step of ${run.id} was interrupted: the server is stopping`);
      const reason = mayRepeat && tries.count < MOST_TRIES ? reasonToRunAgain(result, trigger, tries) : undefined;
      if (reason === undefined) return { ...called, result: { ...result, logs: [...notes, ...result.logs] } };
      notes.push({ at: this.#host.now(), level: "system", text: `Discarded an attempt and ran it again: ${reason}` });
      tries = { count: tries.count + 1, deathsAlone: tries.deathsAlone + (isDeath(result) ? 1 : 0) };
    }
  }

  async #decide({ path, steps }: StepCall, step: Exclude<StepCall["step"], CodeStep>): Promise<void> {
    const { run } = this.#known;
    const host = this.#host;
    const [id, startedAt] = [invocationId(host.now(), host.randomText(8)), host.now()];
    const { namespace } = step;
    const base = { path, namespace, attempt: 1, runs: 1, startedAt, invocationId: id };
    const trigger: StepTrigger = { kind: "step", runId: run.id, path, namespace, attempt: 1 };
    const result = await this.#decision(step, steps);
    const durationMs = host.now() - startedAt;
    const record: StepRecord =
      "decision" in result
        ? { ...base, state: "done", exports: {}, decision: result.decision, outcome: { kind: "returned" }, durationMs }
        : { ...base, state: "failed", exports: {}, outcome: failure(result.problem), durationMs };
    await this.#commit(record, { id, trigger, result: { outcome: record.outcome, emits: [], stateChanges: {}, logs: [] } });
  }

  async #decision(step: Exclude<StepCall["step"], CodeStep>, steps: JsonObject): Promise<{ decision: JsonValue } | { problem: string }> {
    const { run } = this.#known;
    const given = step.kind === "if" ? step.condition : step.kind === "switch" ? step.value : step.items;
    try {
      const value = (await this.#host.decide(run, { value: given, steps })) ?? null;
      if (step.kind === "if" && typeof given === "string" && value === given)
        return { problem: `if: expected an expression, got the text ${JSON.stringify(given)}` };
      if (step.kind === "if") return { decision: isTrue(value) };
      if (step.kind === "switch") return { decision: value };
      if (!Array.isArray(value)) return { problem: `for_each: expected a list, got ${JSON.stringify(value).slice(0, 100)}` };
      return value.length > MOST_ITEMS ? { problem: `for_each: expected at most ${MOST_ITEMS} items, got ${value.length}` } : { decision: value };
    } catch (error) {
      if (error instanceof PdError && error.code === "PD_BAD_PROPS") return { problem: error.message };
      throw error;
    }
  }

  async #commit(record: StepRecord, { id, trigger, result, reason, recording }: StepCalledAs): Promise<void> {
    const { run: before } = this.#known;
    const run = this.#stateAfter(record, reason);
    const { startedAt } = record;
    const told: StepTrigger = record.pause?.kind === "retry" ? { ...trigger, isRetried: true } : trigger;
    const recorded = recording === undefined ? {} : { recording };
    await this.#host.commit({ run, record, ...recorded }, { id, sourceId: before.workflowId, version: before.version, trigger: told, startedAt }, result);
    this.#note(record);
    // The run may have changed during the commit.
    const { run: now } = this.#known;
    if (!hasEnded(now)) this.#run = hasEnded(run) || now.wakes === run.wakes ? run : now;
  }

  /**
   * State after `record`, or without it when nothing is in flight. Does not note the record, because its commit may
   * fail.
   */
  #stateAfter(record?: StepRecord, reason?: string): WorkflowRun {
    const { run, plan } = this.#known;
    if (hasEnded(run)) return run;
    const endedAt = this.#host.now();
    if (record?.state === "failed") {
      const { namespace, path, outcome } = record;
      return { ...run, state: "failed", endedAt, failure: { namespace, path, message: describeOutcome(outcome) } };
    }
    const expired = this.#expired;
    if (expired !== undefined) return { ...run, state: "cancelled", endedAt, reason: `${expired.namespace} was not resumed in time` };
    // Steps in flight determine the state of the run later.
    const others = [...this.#inFlight.keys()].some((path) => path !== record?.path);
    if (others && record?.isExit !== true) return inState(run, "running");
    const loops: Loops = new Map([...this.#loops].map(([path, values]) => [path, [...values]]));
    const result = record === undefined ? undefined : resultOf(record);
    if (record !== undefined && result !== undefined) this.#results.set(record.path, result);
    const progress = advance(plan.workflow.steps, { results: this.#results, trigger: this.#triggerOf(run), loops });
    if (record !== undefined) this.#results.delete(record.path);
    if (progress.isDone) return { ...run, state: "succeeded", endedAt, ...(reason === undefined ? {} : { reason }) };
    const isWaiting = (path: string): boolean => (path === record?.path ? record : this.#records.get(path))?.state === "waiting";
    return inState(run, progress.ready.every(({ path }) => isWaiting(path)) ? "waiting" : "running");
  }
}

interface StepCalledAs {
  readonly id: InvocationId;
  readonly trigger: StepTrigger;
  readonly result: RunResult;
  readonly reason?: string | undefined;
  readonly recording?: string | undefined;
}

const CUT_OFF = { kind: "interrupted", reason: "the server ended while it ran, and this step may not run twice" } as const;

/** Returns the same object when nothing changes. */
function inState(run: WorkflowRun, state: "running" | "waiting"): WorkflowRun {
  return run.state === state ? run : { ...run, state };
}

function failure(message: string): StepRecord["outcome"] {
  return { kind: "threw", error: { name: "PD_BAD_PROPS", message, stack: message } };
}

function isTrue(value: JsonValue): boolean {
  return value !== null && value !== false && value !== 0 && value !== "";
}

/** `$.context.run` */
function runContext(runs: number, before: StepRecord | undefined): JsonObject {
  const context = before?.pause?.context;
  const request = before?.resumedBy;
  return { runs, ...(context === undefined ? {} : { context }), ...(request === undefined ? {} : { callback_request: request }) };
}

/** The step's process made these values, so they are checked. */
function httpResponse({ status, headers, body, encoding }: JsonObject): HttpResponse {
  const given = typeof headers === "object" && headers !== null && !Array.isArray(headers) ? headers : {};
  const lines = Object.entries(given).flatMap(([name, value]): [string, string | readonly string[]][] =>
    typeof value === "string" ? [[name, value]] : Array.isArray(value) ? [[name, value.filter((entry) => typeof entry === "string")]] : [],
  );
  const code = typeof status === "number" ? status : 200;
  return { status: code, headers: Object.fromEntries(lines), body: typeof body === "string" ? body : "", encoding: encoding === "base64" ? "base64" : "utf8" };
}
