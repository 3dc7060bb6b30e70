/**
 * The other process: loads one bundle, runs its calls, reports each once. It starts before anyone knows what it
 * will run, so it must start fast: nothing heavy is imported here.
 */
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { format } from "node:util";
import type { InvocationId } from "../../domain/ids.ts";
import type { LogLevel } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { LIMITS, isTooComplex } from "../../domain/limits.ts";
import { type Trigger, describeTrigger } from "../../domain/trigger.ts";
import { DOOR_FILE, DOOR_WORD } from "../door-protocol.ts";
import { MessagePipe } from "../message-pipe.ts";
import { PROTOCOL, WARM_UP_FILE, type ToChild, type ToHost } from "../protocol.ts";
import { Call, type CallHost, currentCall } from "./call.ts";
import { captureOutput } from "./console.ts";
import { describeComponent } from "./describe.ts";
import { eventFor } from "./event.ts";
import { threw } from "./failure.ts";
import { callAction } from "./action.ts";
import { additionalProps, describeAdditionalProps } from "./dynamic-props.ts";
import { addProps, buildInstance, methodOf } from "./instance.ts";
import { refuseLocalSockets } from "./local-sockets.ts";
import { leadThroughDoor } from "./network-door.ts";
import { callOptions, eventNames } from "./options.ts";
import { leadPlatformCallsTo } from "./platform-api.ts";
import { shutDoors } from "./shut-doors.ts";
import { State, jsonText } from "./state.ts";
import { redirectTmp } from "./tmp-folder.ts";

type CallMessage = Extract<ToChild, { type: "host:call" }>;

/** Methods that are called for their answer alone. */
const QUESTIONS: ReadonlySet<CallMessage["method"]["kind"]> = new Set(["options", "additional-props", "event-names"]);

/** The stream to the host, set up by it as the fourth after stdin, stdout and stderr. */
const HOST_FD = 3;

const exit = process.exit.bind(process);
const hostStream = new Socket({ fd: HOST_FD });
const pipe = new MessagePipe<ToChild, ToHost>(hostStream, {
  read: (text) => JSON.parse(text),
  message: (message) => void receive(message),
  broken: () => exit(1),
});
const calls = new Map<InvocationId, Call>();
const questions = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let component: Record<string, unknown> = {};
let state = new State({});
let questionCount = 0;

function tell(message: ToHost): void {
  pipe.send(message);
}

const host: CallHost = {
  get state() {
    return state;
  },
  respond: (id, response, isUnsettled) => pipe.sendNow({ type: "child:respond", id, response, isUnsettled }),
  ask: (id, request) =>
    new Promise((resolve, reject) => {
      questions.set(++questionCount, { resolve, reject });
      pipe.sendNow({ type: "child:ask", id, number: questionCount, request });
    }),
  note: (id, text) => pipe.sendNow({ type: "child:log", id, line: { at: Date.now(), level: "system", text } }),
  late: (id, part, outcome) => tell({ type: "child:late", id, part, ...(outcome === undefined ? {} : { outcome }) }),
};

hostStream.on("close", () => exit(0));
process.on("exit", sendTheRest);
process.on("unhandledRejection", failUncaught);
process.on("uncaughtException", failUncaught);
Object.defineProperty(globalThis, "defineComponent", { value: (definition: unknown) => definition, configurable: true, writable: true });
const door = process.argv.includes(DOOR_WORD) ? join(dirname(process.cwd()), DOOR_FILE) : undefined;
if (door !== undefined) leadThroughDoor(door);
refuseLocalSockets();
redirectTmp();
captureOutput(log);
// Last: the streams that it takes open their handles when they are first used.
shutDoors(hostStream, door);
tell({ type: "child:ready", protocol: PROTOCOL });
void warmUp();

/**
 * The first module, the first call and the first text that is printed cost ten times what the next ones do: a process
 * that waits to be used has that behind it.
 */
async function warmUp(): Promise<void> {
  const exported = exportedValue(await import(pathToFileURL(`../${WARM_UP_FILE}`).href));
  const warm = new Call("inv_0", { state, respond: () => {}, late: () => {}, note: () => {}, ask: () => Promise.resolve() });
  describeComponent(exported);
  await currentCall.run(warm, async () => {
    const instance = buildInstance(isRecord(exported) ? exported : {}, warm, { configured: {}, endpoint: "" });
    warm.emit({}, {});
    warm.takePart();
    format("%s", instance);
    await Promise.resolve();
  });
}

async function receive(message: ToChild): Promise<void> {
  switch (message.type) {
    case "host:load":
      return load(message);
    case "host:preload":
      await import(message.url).catch(() => undefined);
      return tell({ type: "child:preloaded" });
    case "host:call":
      return run(message);
    case "host:answer":
      return takeAnswer(message);
    case "host:ping":
      return tell({ type: "child:pong" });
    case "host:state":
      return state.patch(message.changes, message.epoch);
    case "host:restore":
      return state.restore(message.stored);
    case "host:abandon":
      return calls.get(message.id)?.state.abandon();
    case "host:stop":
      // What the component still does may end by itself; the host waits a little, then ends the process.
      hostStream.unref();
      return;
  }
}

function takeAnswer({ number, value, error }: Extract<ToChild, { type: "host:answer" }>): void {
  const question = questions.get(number);
  questions.delete(number);
  if (error === undefined) question?.resolve(value);
  else question?.reject(new Error(error));
}

async function load(message: Extract<ToChild, { type: "host:load" }>): Promise<void> {
  Object.assign(process.env, message.env);
  state = new State(message.state, message.epoch);
  defineModuleGlobals(message.url);
  try {
    if (message.platformApi !== undefined) leadPlatformCallsTo(message.platformApi, message.url);
    for (const url of message.preloads) await import(url);
    const exported = exportedValue(await import(message.url));
    component = isRecord(exported) ? exported : {};
    tell({ type: "child:loaded", definition: describeComponent(exported) });
  } catch (error) {
    tell({ type: "child:load-failed", outcome: threw(error) });
  }
}

/** CommonJS parts of the bundle find `require` and its companions as globals. */
function defineModuleGlobals(url: string): void {
  const path = fileURLToPath(url);
  const globals = { require: createRequire(url), __filename: path, __dirname: dirname(path) };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** The default export; TypeScript compiled to CommonJS wraps it once more. */
function exportedValue(module: unknown): unknown {
  const exported = isRecord(module) ? module["default"] : undefined;
  return isRecord(exported) && exported["__esModule"] === true ? exported["default"] : exported;
}

async function run(message: CallMessage): Promise<void> {
  const call = new Call(message.id, host, { isQuestion: QUESTIONS.has(message.method.kind) });
  calls.set(call.id, call);
  const outcome = await currentCall.run(call, () => callMethod(message, call));
  // One turn of the loop: a rejection that nobody caught is reported by then, and belongs to this call.
  await new Promise((resolve) => setImmediate(resolve));
  await call.state.untilFounded();
  calls.delete(call.id);
  if (call.state.isVoid) return reportVoid(call);
  const part = call.takePart();
  call.finish();
  const end = call.failure === undefined || outcome.kind === "threw" ? outcome : threw(call.failure.thrown);
  const report = call.report === undefined ? {} : { report: call.report() };
  if (end.kind === "returned-value")
    tell({ type: "child:done", id: message.id, outcome: { kind: "returned" }, part, ...report, ...(end.text === undefined ? {} : { returned: end.text }) });
  else tell({ type: "child:done", id: message.id, outcome: end, part, ...report });
}

function reportVoid(call: Call): void {
  call.state.abandon();
  const reason = "it had read what a call wrote that was given up";
  tell({ type: "child:done", id: call.id, outcome: { kind: "interrupted", reason }, part: { emits: [], stateChanges: {}, touched: {} } });
}

type CallEnd = { readonly kind: "returned-value"; readonly text: string | undefined } | ReturnType<typeof threw>;

async function callMethod(message: CallMessage, call: Call): Promise<CallEnd> {
  try {
    const instance = buildInstance(component, call, message);
    return { kind: "returned-value", text: returnedText(await callOn(instance, call, message), message.method) };
  } catch (error) {
    return threw(error);
  }
}

async function callOn(instance: Record<string, unknown>, call: Call, { method, configured, endpoint, dynamicProps }: CallMessage): Promise<unknown> {
  // An app that only `additionalProps` declares has its methods there alone.
  if (dynamicProps.some(({ type }) => type === "app") === true && method.kind !== "additional-props") {
    const apps = Object.entries(await additionalProps(component, instance)).filter(([, prop]) => isRecord(prop) && prop["type"] === "app");
    addProps(instance, Object.fromEntries(apps), { call, settings: { configured, endpoint } });
  }
  switch (method.kind) {
    case "run":
      return callRun(instance, call, method.trigger);
    case "hook":
      return methodOf(component, method.hook, true)?.call(instance);
    case "action":
      return callAction(component, instance, { call, method });
    case "options":
      return callOptions(component, instance, method);
    case "additional-props":
      return describeAdditionalProps(component, instance);
    case "event-names":
      return eventNames(component, instance, method.prop);
  }
}

/** A source without `run` emits what triggers it (registry.md §1). */
async function callRun(instance: Record<string, unknown>, call: Call, trigger: Trigger): Promise<unknown> {
  if (trigger.kind === "sample") return call.emit(component["sampleEmit"], { summary: "Sample event", id: call.id });
  const event = await eventFor(trigger);
  const method = methodOf(component, "run", false);
  return method === undefined ? call.emit(event, { id: call.id, summary: describeTrigger(trigger) }) : method.call(instance, event);
}

/** What was returned, as JSON. Who asked for an answer is told when it is none; what a run returns is shown when it can be. */
function returnedText(returned: unknown, { kind }: CallMessage["method"]): string | undefined {
  const text = textOfReturned(returned, kind);
  if (text === undefined || (text.length <= LIMITS.value && !isTooComplex(text))) return text;
  const reason = `returned ${text.length} characters: more than ${LIMITS.value}, or more than ${LIMITS.members} members`;
  if (kind !== "run" && kind !== "hook") throw new RangeError(reason);
  log("system", `What was returned is not kept: ${reason}`);
  return undefined;
}

function textOfReturned(returned: unknown, kind: CallMessage["method"]["kind"]): string | undefined {
  if (kind !== "run" && kind !== "hook") return jsonText(returned, "returned");
  try {
    return JSON.stringify(returned);
  } catch {
    return undefined;
  }
}

function failUncaught(error: unknown): void {
  const outcome = threw(error);
  const call = currentCall.getStore() ?? onlyCall();
  if (call === undefined) log("error", outcome.kind === "threw" ? outcome.error.stack : "");
  else call.fail(error, outcome);
}

function onlyCall(): Call | undefined {
  const [first, second] = calls.values();
  return second === undefined ? first : undefined;
}

function log(level: LogLevel, text: string, rawFrom?: string): void {
  const id: InvocationId | null = (currentCall.getStore() ?? onlyCall())?.id ?? null;
  const shown = text.length > LIMITS.line ? `${text.slice(0, LIMITS.line)}… (${text.length - LIMITS.line} more characters)` : text;
  pipe.sendNow({ type: "child:log", id, line: { at: Date.now(), level, text: shown, ...(rawFrom === undefined ? {} : { rawFrom }) } });
}

/** Messages of a turn leave at its end; a process that exits within it sends them now, and tells who has ended it. */
function sendTheRest(): void {
  const call = currentCall.getStore();
  if (call !== undefined && calls.has(call.id)) tell({ type: "child:exiting", id: call.id });
  try {
    writeSync(HOST_FD, pipe.takeUnsent());
  } catch {
    // The host is gone, or reads too slowly: it sees the exit all the same.
  }
}
