import { rmSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script, constants } from "node:vm";
import { PdError } from "../domain/errors.ts";
import { describeOutcome, outcomeDetails } from "../domain/run/invocation.ts";
import type { Runner, Unit, UnitCode, UnitEvents } from "../ports/runner.ts";
import { currentCall } from "../sandbox/child/component/call.ts";
import { ComponentHost } from "../sandbox/child/component/component-host.ts";
import { captureOutput } from "../sandbox/child/node/console.ts";
import type { ChildExit } from "../sandbox/process/child-process.ts";
import type { Clock } from "../ports/clock.ts";
import { ProcessUnit, type UnitProcess } from "../sandbox/process/process-unit.ts";
import { throwIfUnwanted, whileWanted } from "../sandbox/process/wanted-load.ts";
import type { ToChild, ToHost } from "../sandbox/channel/protocol.ts";
import { readToHost } from "../sandbox/channel/read-message.ts";
import { systemClock } from "../system/clock.ts";

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** From source, the project's tests load this file with a runner that transforms imports, but Node itself must import components. */
const isBuilt = /\.c?js$/.test(import.meta.url);
const importNatively: (url: string) => Promise<unknown> = isBuilt
  ? (url) => import(url)
  : new Script("(url) => import(url)", { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext();

/** Deadlines of finished calls must not keep the test process running. */
const unheldClock: Clock = {
  ...systemClock,
  sleepUntil: (at, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(at - Date.now(), LONGEST_TIMER_MS)).unref();
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    }),
};

/** By call id. The current call gets this process's output and errors. */
const hosts = new Map<string, ComponentHost>();
let isCapturing = false;

function captureOnce(): void {
  if (isCapturing) return;
  isCapturing = true;
  const hostNow = (): ComponentHost | undefined => hosts.get(currentCall.getStore()?.id ?? "");
  captureOutput(
    (level, text, rawFrom) => hostNow()?.log(level, text, rawFrom),
    () => hostNow() !== undefined,
  );
  Object.defineProperty(globalThis, "defineComponent", { value: (definition: unknown) => definition, configurable: true, writable: true });
}

const open = new Set<string>();
let isWatchingExit = false;

/** Tests need not close units. */
function removeAtExit(folder: string): void {
  open.add(folder);
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.once("exit", () => open.forEach((one) => rmSync(one, { recursive: true, force: true })));
}

/** Without isolation: it cannot be killed, and must not block. */
class InProcess implements UnitProcess {
  readonly exited: Promise<ChildExit>;
  readonly #folder: string;
  readonly #host: ComponentHost;
  #exit: (exit: ChildExit) => void = () => {};
  #isOver = false;
  readonly #envBefore = new Map<string, string | undefined>();
  #listener: (message: ToHost) => void = () => {};

  static async start({ packagesPath }: UnitCode): Promise<InProcess> {
    const folder = await mkdtemp(join(tmpdir(), "headwater-unit-"));
    removeAtExit(folder);
    if (packagesPath !== undefined) await symlink(join(packagesPath, "node_modules"), join(folder, "node_modules"));
    return new InProcess(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.exited = new Promise((resolve) => (this.#exit = resolve));
    const say = (message: ToHost): void => {
      // Messages are serialized and arrive later, as between processes.
      const text = JSON.stringify(message);
      // The receiver must not run in the context of the sending call.
      currentCall.exit(() => setImmediate(() => (this.#isOver ? undefined : this.#listener(readToHost(text)))));
    };
    this.#host = new ComponentHost({ tell: say, sendNow: say, importModule: importNatively });
  }

  listen(onMessage: (message: ToHost) => void): void {
    this.#listener = onMessage;
  }

  charge(): void {}

  send(message: ToChild): void {
    const told: ToChild = JSON.parse(JSON.stringify(message));
    setImmediate(() => (this.#isOver ? undefined : this.#receive(told)));
  }

  kill(): void {
    this.#end({ code: null, signal: "SIGKILL", lastWords: "" });
  }

  async writeModule(name: string, text: string): Promise<string> {
    const path = join(this.#folder, name);
    await writeFile(path, text);
    return pathToFileURL(path).href;
  }

  #receive(message: ToChild): void {
    switch (message.type) {
      case "host:preload":
      case "host:expect-packages":
        return;
      case "host:ping":
        return setImmediate(() => this.#listener({ type: "child:pong", memoryBytes: process.memoryUsage.rss() })) && undefined;
      case "host:stop":
        return this.#end({ code: 0, signal: null, lastWords: "" });
      case "host:load":
        for (const name of Object.keys(message.env)) this.#envBefore.set(name, process.env[name]);
        Object.assign(process.env, message.env);
        defineModuleGlobals(message.url);
        break;
      case "host:call":
        hosts.set(message.id, this.#host);
        break;
      default:
    }
    void this.#host.receive(message);
  }

  #end(exit: ChildExit): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const [name, value] of this.#envBefore) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    void rm(this.#folder, { recursive: true, force: true }).then(() => {
      open.delete(this.#folder);
      this.#exit(exit);
    });
  }
}

function defineModuleGlobals(url: string): void {
  const path = fileURLToPath(url);
  const globals = { require: createRequire(url), __filename: path, __dirname: dirname(path) };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

export class InProcessRunner implements Runner {
  readonly #processes = new Set<InProcess>();

  async start(code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<Unit> {
    captureOnce();
    const child = await InProcess.start(code);
    this.#processes.add(child);
    void child.exited.then(() => this.#processes.delete(child));
    const settings = { clock: unheldClock, memoryMb: 256, apiUrl: () => "http://127.0.0.1:1", loadDeadlineMs: 30_000 };
    const loaded = await whileWanted(child, signal, () => ProcessUnit.load(child, code, { events, settings }));
    if ("definition" in loaded) return loaded;
    throwIfUnwanted(signal);
    throw new PdError("PD_LOAD_FAILED", `Cannot load the component: ${describeOutcome(loaded.outcome)}`, { details: outcomeDetails(loaded.outcome) });
  }

  prepare(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = [...this.#processes].map((child) => child.exited);
    for (const child of this.#processes) child.kill();
    await Promise.all(ended);
  }
}
