import type { DataStoreRequest } from "../domain/source/data-store.ts";
import type { DedupeCache } from "../domain/event/dedupe.ts";
import { dedupe, remember } from "../domain/event/dedupe.ts";
import type { ComponentDefinition, HookName } from "../domain/component/component.ts";
import { type Emit, orderEmits } from "../domain/event/event.ts";
import { PdError } from "../domain/errors.ts";
import { invocationId } from "../domain/ids.ts";
import {
  type BadResponse,
  type HttpResponse,
  type LogLine,
  type Method,
  type RunResult as CallResult,
  type StateChanges,
  describeOutcome,
  isFailed,
  reasonOf,
} from "../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../domain/text/json.ts";
import { dataStoresOf, withDynamicProps } from "../domain/props/declared-props.ts";
import type { PropDeclaration } from "../domain/props/kinds.ts";
import { type Schedule, nextInstant, parseTimer } from "../domain/timer/schedule.ts";
import { Turns } from "../domain/source/turns.ts";
import type { LatePart, Unit } from "../ports/runner.ts";
import { type Line, RunFailed, type RunResult, answered, emitted, exportsOf } from "./run-result.ts";
import { TestStores } from "./test-stores.ts";
import { systemClock } from "../system/clock.ts";
import { Answerer, type Outside } from "./outside.ts";
import { type RunInput, jsonOf, triggerOf } from "./run-input.ts";

export interface UnitPorts {
  readonly answerer: () => Answerer | undefined;
  readonly late: (part: LatePart) => void;
  readonly ask: (request: DataStoreRequest) => Promise<JsonValue | undefined>;
}

export interface Loaded {
  readonly definition: ComponentDefinition;
  readonly start: (state: Readonly<Record<string, string>>, ports: UnitPorts) => Promise<Unit>;
  readonly configured: JsonObject;
  readonly dynamicProps: readonly PropDeclaration[];
  readonly db: JsonObject;
  readonly outside: Outside;
  /** Epoch milliseconds. Undefined for the real time. */
  readonly now: number | undefined;
  readonly timeoutMs: number;
}

export const ENDPOINT = "https://endpoint.test/source";
const MOST_INSTANTS = 10_000;

/** A component under test, with state and dedupe memory that last between runs. */
export class TestSource {
  readonly #loaded: Loaded;
  readonly #state = new Map<string, string>();
  readonly #props: readonly PropDeclaration[];
  #cache: DedupeCache = {};
  #unit: Promise<Unit> | undefined;
  #answerer: Answerer | undefined;
  readonly #stores = new TestStores(() => this.now);
  readonly #late: LatePart["result"][] = [];
  #outside: Outside;
  #now: number | undefined;
  /** Epoch milliseconds. */
  readonly #since: number;
  #count = 0;
  readonly #turns = new Turns();

  constructor(loaded: Loaded) {
    this.#loaded = loaded;
    this.#outside = loaded.outside;
    this.#now = loaded.now;
    this.#since = this.now;
    this.#props = withDynamicProps(loaded.definition.props, loaded.dynamicProps);
    for (const [key, value] of Object.entries(loaded.db)) this.#state.set(key, JSON.stringify(value));
  }

  get definition(): ComponentDefinition {
    return this.#loaded.definition;
  }

  /** Epoch milliseconds, as the component sees it. */
  get now(): number {
    return this.#now ?? Date.now();
  }

  get state(): JsonObject {
    return Object.fromEntries([...this.#state].map(([key, text]): [string, JsonValue] => [key, parseJson(text) ?? null]));
  }

  /** Sets a value of `this.db`. `undefined` clears the key. */
  async setState(key: string, value: unknown): Promise<void> {
    const text = value === undefined ? null : JSON.stringify(jsonOf(value));
    if (text === null) this.#state.delete(key);
    else this.#state.set(key, text);
    const unit = await this.#unit;
    unit?.patchState({ [key]: text }, ++this.#count);
  }

  /** Contents of the data stores, by the value of their prop. */
  get dataStores(): Readonly<Record<string, JsonObject>> {
    return this.#stores.values;
  }

  setStored(store: string, key: string, value: unknown): void {
    this.#stores.answer({ operation: "set", store, key, value: jsonOf(value) });
  }

  /** Replaces the answers for third parties. */
  answerWith(outside: Outside): void {
    this.#outside = outside;
  }

  /** Stops the component's clock at this time. Does not fire timers. */
  setTime(at: number | string | Date): void {
    this.#now = timeOf(at);
  }

  /** Moves the time forward and fires timers on the way. Returns their runs in order. Throws PD_BAD_INPUT for more than 10,000 runs. */
  async advance(ms: number): Promise<readonly RunResult[]> {
    const [start, end] = [this.now, this.now + ms];
    const results: RunResult[] = [];
    const fired = new Map<string, number>();
    for (;;) {
      const due = this.#nextDue(end, (prop) => fired.get(prop) ?? start);
      if (due === undefined) break;
      if (results.length >= MOST_INSTANTS)
        throw new PdError("PD_BAD_INPUT", `Cannot advance by ${ms} ms: its timers are due more than ${MOST_INSTANTS} times`, {
          fix: "Advance in smaller steps",
        });
      fired.set(due.prop, due.at);
      this.#now = due.at;
      results.push(await this.run({ timer: due }));
    }
    this.#now = end;
    return results;
  }

  /** Throws RunFailed. */
  run(input?: RunInput): Promise<RunResult> {
    const context = { props: this.#props, endpoint: ENDPOINT, now: this.now, scheduleOf: (prop: string) => this.#scheduleOf(prop) };
    return this.#turns.take(() => this.#call(this.definition.type === "action" ? actionOf(input) : { kind: "run", trigger: triggerOf(input, context) }));
  }

  /** Calls the hook `deploy`, which a server calls once, before `activate`. */
  deploy(): Promise<RunResult> {
    return this.#hook("deploy");
  }

  activate(): Promise<RunResult> {
    return this.#hook("activate");
  }

  deactivate(): Promise<RunResult> {
    return this.#hook("deactivate");
  }

  /** Returns one page of a prop's choices. Throws PD_OPTIONS_FAILED. */
  async options(prop: string, { page = 0, query, prevContext = {} }: { page?: number; query?: string; prevContext?: object } = {}): Promise<unknown> {
    const context = jsonOf(prevContext);
    const method = {
      kind: "options",
      prop,
      page,
      prevContext: typeof context === "object" && context !== null && !Array.isArray(context) ? context : {},
      ...(query === undefined ? {} : { query }),
    } as const;
    const { outcome, returned } = await this.#turns.take(() => this.#ask(method, { log: () => {}, respond: () => {} }));
    const answer = parseJson(returned ?? "null");
    if (outcome.kind === "returned") return typeof answer === "object" && answer !== null && "found" in answer ? answer["found"] : null;
    throw new PdError("PD_OPTIONS_FAILED", `Cannot list the options of ${prop}: ${reasonOf(outcome)}`);
  }

  /** Optional: the component ends with the test process. */
  async close(): Promise<void> {
    const unit = await this.#unit;
    this.#unit = undefined;
    unit?.kill("its test is over");
  }

  #ports(): UnitPorts {
    return {
      answerer: () => this.#answerer,
      late: ({ result }) => {
        this.#keep(result.stateChanges);
        this.#late.push(result);
      },
      ask: (request) => Promise.resolve(this.#stores.answer(request)),
    };
  }

  #keep(changes: StateChanges): void {
    for (const [key, text] of Object.entries(changes)) {
      if (text === null) this.#state.delete(key);
      else this.#state.set(key, text);
    }
  }

  /** Returns and clears what the code did after its runs returned. A server keeps that too. Wait until the code has finished. */
  takeLate(): Pick<RunResult, "emits" | "kept" | "dropped" | "logs"> {
    const results = this.#late.splice(0);
    const { emits, kept, dropped } = this.#judge(results.flatMap((result) => result.emits));
    const failures = results.flatMap(({ outcome }) =>
      outcome === undefined || !isFailed(outcome) ? [] : [{ level: "error" as const, text: describeOutcome(outcome) }],
    );
    return { emits, kept, dropped, logs: [...results.flatMap(({ logs }) => logs.map(({ level, text }) => ({ level, text }))), ...failures] };
  }

  #judge(given: readonly Emit[]): Pick<RunResult, "emits" | "kept" | "dropped"> & { readonly warnings: readonly string[] } {
    const emits = orderEmits(given);
    const judged = dedupe(this.definition.dedupe, this.#cache, emits);
    if (judged.change !== undefined) this.#cache = remember(this.#cache, judged.change);
    return {
      emits: emits.map(emitted),
      kept: judged.kept.map(emitted),
      dropped: judged.dropped.map(({ emit, reason }) => ({ ...emitted(emit), reason })),
      warnings: judged.warnings,
    };
  }

  #hook(hook: HookName): Promise<RunResult> {
    return this.#turns.take(() => this.#call({ kind: "hook", hook }));
  }

  async #call(method: Method): Promise<RunResult> {
    const logs: Line[] = [];
    const responses: (HttpResponse | BadResponse)[] = [];
    const result = await this.#ask(method, { log: ({ level, text }) => logs.push({ level, text }), respond: (response) => responses.push(response) });
    this.#keep(result.stateChanges);
    const done = this.#resultOf(result, { logs, responses });
    if (!isFailed(result.outcome)) return done;
    // The process has ended. The next call starts another with the stored state.
    if (result.outcome.kind !== "threw") this.#unit = undefined;
    throw new RunFailed(describeOutcome(result.outcome), { stack: result.outcome.kind === "threw" ? result.outcome.error.stack : undefined, result: done });
  }

  async #ask(method: Method, report: { log(line: LogLine): void; respond(response: HttpResponse | BadResponse): void }): Promise<CallResult> {
    const { configured, dynamicProps, timeoutMs } = this.#loaded;
    this.#answerer = this.#outside === "real" ? undefined : new Answerer(this.#outside);
    const unit = await (this.#unit ??= this.#loaded.start(Object.fromEntries(this.#state), this.#ports()));
    return unit.call(
      {
        id: invocationId(this.now, systemClock.randomText(8)),
        method,
        configured,
        dynamicProps,
        secrets: [],
        dataStores: dataStoresOf(this.#props, configured),
        endpoint: ENDPOINT,
        deadlineMs: timeoutMs,
        ...(this.#answerer === undefined ? {} : { asksHost: true }),
        ...(this.#now === undefined ? {} : { nowMs: this.#now }),
      },
      report,
    );
  }

  #resultOf(result: CallResult, { logs, responses }: { logs: readonly Line[]; responses: readonly (HttpResponse | BadResponse)[] }): RunResult {
    const late = this.#late.length;
    const { warnings, ...judged } = this.#judge(result.emits);
    const notes = late === 0 ? [] : [`Code of an earlier run was active ${late} times after it had returned: see takeLate()`];
    return {
      ...judged,
      responses: responses.map(answered),
      logs: [...logs, ...[...warnings, ...notes].map((text) => ({ level: "system" as const, text }))],
      state: this.state,
      calls: this.#answerer?.calls ?? [],
      returned: result.returned === undefined ? undefined : parseJson(result.returned),
      exports: exportsOf(result.report),
    };
  }

  #scheduleOf(prop: string): Schedule {
    const parsed = parseTimer(this.#loaded.configured[prop]);
    if (typeof parsed !== "string") return parsed.schedule;
    throw new PdError("PD_BAD_INPUT", `Cannot compute when ${prop} is due: ${parsed}`);
  }

  #nextDue(end: number, lastOf: (prop: string) => number): { prop: string; at: number } | undefined {
    const timers = this.#props.filter(({ kind }) => kind === "timer");
    const due = timers.flatMap(({ name }) => {
      const at = nextInstant(this.#scheduleOf(name), this.#since, lastOf(name));
      return at === undefined || at > end ? [] : [{ prop: name, at }];
    });
    return due.toSorted((a, b) => a.at - b.at)[0];
  }
}

function actionOf(input: RunInput | undefined): Method {
  const steps = jsonOf(input?.steps ?? {});
  return { kind: "action", steps: isJsonObject(steps) ? steps : {}, context: {} };
}

/** Returns epoch milliseconds. Throws PD_BAD_INPUT. */
export function timeOf(at: number | string | Date): number {
  const ms = new Date(at).getTime();
  if (Number.isNaN(ms)) throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(at)} as a time: expected epoch milliseconds, a Date or an ISO string`);
  return ms;
}
