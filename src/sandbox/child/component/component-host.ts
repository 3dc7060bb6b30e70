import { eventFor } from "../../../domain/run/event-of-trigger.ts";
import type { InvocationId } from "../../../domain/ids.ts";
import type { EvaluateMethod, LogLevel } from "../../../domain/run/invocation.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { LIMITS, isTooComplex } from "../../../domain/limits.ts";
import { type Trigger, describeTrigger } from "../../../domain/run/trigger.ts";
import type { HostCall, ToChild, ToHost } from "../../channel/protocol.ts";
import { callAction } from "./action.ts";
import { Call, type CallHost, currentCall } from "./call.ts";
import { describeComponent } from "./describe.ts";
import { additionalProps, describeAdditionalProps } from "./dynamic-props.ts";
import { threw } from "./failure.ts";
import { addProps, buildInstance, methodOf } from "./instance.ts";
import { callOptions, eventNames } from "./options.ts";
import { jsonText, State } from "./state.ts";
import { temporaryFolderFor } from "./tmp-folder.ts";
import { compileFunction } from "node:vm";

type LoadMessage = Extract<ToChild, { type: "host:load" }>;

/** Methods that are called only for their answer. */
const QUESTIONS: ReadonlySet<HostCall["method"]["kind"]> = new Set(["options", "additional-props", "event-names", "evaluate"]);

export interface Surroundings {
  /** The message leaves at the end of this turn. */
  tell(message: ToHost): void;
  sendNow(message: ToHost): void;
  importModule(url: string): Promise<unknown>;
}

export class ComponentHost {
  readonly #around: Surroundings;
  readonly #calls = new Map<InvocationId, Call>();
  readonly #questions = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #callHost: CallHost;
  #component: Record<string, unknown> = {};
  #state = new State({});
  #questionCount = 0;
  #heldSize = 0;
  #turn: Promise<void> | undefined;

  constructor(around: Surroundings) {
    this.#around = around;
    const stateNow = (): State => this.#state;
    this.#callHost = {
      get state() {
        return stateNow();
      },
      respond: (id, response, told) => around.sendNow({ type: "child:respond", id, response, ...told }),
      ask: (id, request) =>
        new Promise((resolve, reject) => {
          this.#questions.set(++this.#questionCount, { resolve, reject });
          around.sendNow({ type: "child:ask", id, number: this.#questionCount, request });
        }),
      note: (id, text) => around.sendNow({ type: "child:log", id, line: { at: Date.now(), level: "system", text } }),
      emitted: (id, emits, size) => {
        // The end of a call may add up to `LIMITS.call` more.
        if (this.#heldSize + size > LIMITS.held - LIMITS.call) return false;
        this.#heldSize += size;
        around.sendNow({ type: "child:emitted", id, emits });
        return true;
      },
      late: (id, part, outcome) => around.tell({ type: "child:late", id, part, ...(outcome === undefined ? {} : { outcome }) }),
    };
  }

  async receive(message: Exclude<ToChild, { type: "host:preload" | "host:expect-packages" | "host:ping" | "host:stop" }>): Promise<void> {
    switch (message.type) {
      case "host:load":
        return this.#load(message);
      case "host:call":
        return this.#run(message);
      case "host:answer":
        return this.#takeAnswer(message);
      case "host:state":
        return this.#state.patch(message.changes, message.epoch);
      case "host:abandon":
        return this.#calls.get(message.id)?.state.abandon();
    }
  }

  /** A line without a running call belongs to the only call in flight. */
  log(level: LogLevel, text: string, rawFrom?: string): void {
    const id: InvocationId | null = (currentCall.getStore() ?? this.#onlyCall())?.id ?? null;
    const shown = text.length > LIMITS.line ? `${text.slice(0, LIMITS.line)}… (${text.length - LIMITS.line} more characters)` : text;
    this.#around.sendNow({ type: "child:log", id, line: { at: Date.now(), level, text: shown, ...(rawFrom === undefined ? {} : { rawFrom }) } });
  }

  failUncaught(error: unknown): void {
    const outcome = threw(error);
    const call = currentCall.getStore() ?? this.#onlyCall();
    if (call === undefined) this.log("error", outcome.kind === "threw" ? outcome.error.stack : "");
    else call.fail(error, outcome);
  }

  /** Undefined when that call has ended. */
  get runningCall(): InvocationId | undefined {
    const call = currentCall.getStore();
    return call !== undefined && this.#calls.has(call.id) ? call.id : undefined;
  }

  async #load(message: LoadMessage): Promise<void> {
    this.#state = new State(message.state, message.epoch);
    try {
      for (const url of message.preloads) await this.#around.importModule(url);
      const exported = exportedValue(await this.#around.importModule(message.url));
      this.#component = componentOf(exported);
      this.#around.tell({ type: "child:loaded", definition: describeComponent(exported) });
    } catch (error) {
      this.#around.tell({ type: "child:load-failed", outcome: threw(error) });
    }
  }

  #takeAnswer({ number, value, error }: Extract<ToChild, { type: "host:answer" }>): void {
    const question = this.#questions.get(number);
    this.#questions.delete(number);
    if (error === undefined) question?.resolve(value);
    else question?.reject(new Error(error));
  }

  async #run(message: HostCall): Promise<void> {
    const call = new Call(message.id, this.#callHost, { isQuestion: QUESTIONS.has(message.method.kind) });
    this.#calls.set(call.id, call);
    if (message.asksHost === true) (await import("./third-parties.ts")).askHost(call);
    if (message.nowMs !== undefined) giveTime(call, message.nowMs);
    const outcome = await currentCall.run(call, () =>
      message.files === undefined ? this.#callMethod(message, call) : this.#callWithFiles(message, call, message.files),
    );
    await this.#endOfTurn();
    await call.state.untilFounded();
    this.#calls.delete(call.id);
    this.#heldSize -= call.heldSize;
    // The host has settled it. What it wrote must not count as stored for the calls that read it.
    if (call.state.isAbandoned) return call.finish();
    if (call.state.isVoid) return this.#reportVoid(call);
    // All emits in one message may be too much for the server.
    for (const { emits } of call.takeWaiting()) this.#around.sendNow({ type: "child:emitted", id: call.id, emits });
    const part = call.takePart();
    call.finish();
    const end = call.failure === undefined || outcome.kind === "threw" ? outcome : threw(call.failure.thrown);
    const { id } = message;
    const report = call.report?.();
    if (end.kind === "returned-value") this.#around.tell({ type: "child:done", id, outcome: { kind: "returned" }, part, returned: end.text, report });
    else this.#around.tell({ type: "child:done", id, outcome: end, part, report });
  }

  /** When it resolves, unhandled rejections of this turn have failed their calls. Calls that end in one turn share it. */
  #endOfTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#turn = undefined;
        resolve();
      }),
    );
    return this.#turn;
  }

  #reportVoid(call: Call): void {
    call.state.abandon();
    const reason = "it had read a value of a call that was discarded";
    this.#around.tell({ type: "child:done", id: call.id, outcome: { kind: "interrupted", reason }, part: { emits: [], stateChanges: {}, touched: {} } });
  }

  async #callWithFiles(message: HostCall, call: Call, { isEmpty }: NonNullable<HostCall["files"]>): Promise<CallEnd> {
    const { RunFolder } = await import("./run-folder.ts");
    const folder = new RunFolder(temporaryFolderFor(call.id), { isEmpty, ask: (request) => call.ask(request) });
    try {
      await folder.fetch();
      call.temporaryFolder = folder.path;
      const end = await this.#callMethod(message, call);
      await folder.keep((text) => call.note(text));
      return end;
    } catch (error) {
      return threw(error);
    } finally {
      call.temporaryFolder = undefined;
      await folder.clear();
    }
  }

  async #callMethod(message: HostCall, call: Call): Promise<CallEnd> {
    try {
      const instance = buildInstance(this.#component, call, message);
      return { kind: "returned-value", text: this.#returnedText(await this.#callOn(instance, call, message), message.method) };
    } catch (error) {
      return threw(error);
    }
  }

  async #callOn(instance: Record<string, unknown>, call: Call, { method, configured, endpoint, dynamicProps }: HostCall): Promise<unknown> {
    const component = this.#component;
    // Only `additionalProps` has the methods of an app that it declares.
    if (dynamicProps.some(({ type }) => type === "app") && method.kind !== "additional-props") {
      const apps = Object.entries(await additionalProps(component, instance)).filter(([, prop]) => isRecord(prop) && prop["type"] === "app");
      addProps(instance, Object.fromEntries(apps), { call, settings: { configured, endpoint } });
    }
    switch (method.kind) {
      case "run":
        return this.#callRun(instance, call, method.trigger);
      case "hook":
        return methodOf(component, method.hook, true)?.call(instance);
      case "action":
        return callAction(component, instance, { call, method });
      case "evaluate":
        return evaluateAll(method);
      case "options":
        return callOptions(component, instance, method);
      case "additional-props":
        return describeAdditionalProps(component, instance);
      case "event-names":
        return eventNames(component, instance, method.prop);
    }
  }

  /** A source without `run` emits its trigger. */
  async #callRun(instance: Record<string, unknown>, call: Call, trigger: Trigger): Promise<unknown> {
    if (trigger.kind === "sample") return call.emit(this.#component["sampleEmit"], { summary: "Sample event", id: call.id });
    const event = await eventFor(trigger, (text) => call.note(text));
    const method = methodOf(this.#component, "run", false);
    return method === undefined ? call.emit(event, { id: call.id, summary: describeTrigger(trigger) }) : method.call(instance, event);
  }

  /** A result that is too large throws RangeError. For `run` and hooks, a log line replaces it. */
  #returnedText(returned: unknown, { kind }: HostCall["method"]): string | undefined {
    const text = textOfReturned(returned, kind);
    if (text === undefined || (text.length <= LIMITS.value && !isTooComplex(text))) return text;
    const reason = `returned ${text.length} characters: more than ${LIMITS.value}, or more than ${LIMITS.members} members`;
    if (kind !== "run" && kind !== "hook") throw new RangeError(reason);
    this.log("system", `Dropped the result: ${reason}`);
    return undefined;
  }

  #onlyCall(): Call | undefined {
    const [first, second] = this.#calls.values();
    return second === undefined ? first : undefined;
  }
}

type CallEnd = { readonly kind: "returned-value"; readonly text: string | undefined } | ReturnType<typeof threw>;

/** TypeScript compiled to CommonJS wraps the default export twice. */
export function exportedValue(module: unknown): unknown {
  const exported = isRecord(module) ? module["default"] : undefined;
  return isRecord(exported) && exported["__esModule"] === true ? exported["default"] : exported;
}

/** A bare function is an old form of a workflow step. */
function componentOf(exported: unknown): Record<string, unknown> {
  if (typeof exported === "function") return { run: exported };
  return isRecord(exported) ? exported : {};
}

function textOfReturned(returned: unknown, kind: HostCall["method"]["kind"]): string | undefined {
  if (kind !== "run" && kind !== "hook") return jsonText(returned, "returned");
  try {
    return JSON.stringify(returned);
  } catch {
    return undefined;
  }
}

type Evaluated = { readonly value?: unknown } | { readonly problem: string };

/** Expressions see `steps`, `$` and `event`, which workflows from before 2021 use. */
function evaluateAll({ expressions, steps, context }: EvaluateMethod): readonly Evaluated[] {
  const event = isRecord(steps["trigger"]) ? steps["trigger"]["event"] : undefined;
  return expressions.map((source): Evaluated => {
    try {
      const evaluate = compileFunction(`"use strict"; return (${source}\n);`, ["steps", "$", "event"]);
      const value: unknown = Reflect.apply(evaluate, undefined, [steps, { context }, event]);
      // JSON conversion happens here, so that an error names the expression.
      return value === undefined ? {} : { value: JSON.parse(jsonText(value, `{{${source}}}`) ?? "null") };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  });
}

let isGiven = false;

/** The code of this call sees `nowMs` (epoch ms) as the current time. */
function giveTime(call: Call, nowMs: number): void {
  call.nowMs = nowMs;
  if (isGiven) return;
  isGiven = true;
  const Real = Date;
  const now = (): number => currentCall.getStore()?.nowMs ?? Real.now();
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
  });
}
