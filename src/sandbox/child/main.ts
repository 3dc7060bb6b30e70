/** Must start fast, so nothing heavy is imported here. */
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script, constants } from "node:vm";
import { Worker } from "node:worker_threads";
import { collectWhenQuiet } from "../../system/process/quiet-heap.ts";
import { DOOR_FILE, DOOR_WORD } from "../network/door-protocol.ts";
import { INSPECTOR_FD, INSPECTOR_WORD } from "../channel/inspector-channel.ts";
import { MessagePipe } from "../channel/message-pipe.ts";
import { PROTOCOL, type ToChild, type ToHost } from "../channel/protocol.ts";
import { WARM_UP_FILE } from "../channel/warm-up-component.ts";
import { ComponentHost } from "./component/component-host.ts";
import { captureOutput, hideCallsInPromises } from "./node/console.ts";
import { refuseLocalSockets } from "./ways-out/local-sockets.ts";
import { leadThroughDoor } from "./ways-out/network-door.ts";
import { leadPlatformCallsTo } from "./node/platform-api.ts";
import { shutDoors } from "./ways-out/shut-doors.ts";
import { answerForMissingFiles } from "./node/missing-files.ts";
import { goOnWithoutHooks, offerOldBinding } from "./node/old-ways.ts";
import { showParents } from "./node/parent-folders.ts";
import { rehearse } from "./rehearsal.ts";
import { redirectTmp } from "./component/tmp-folder.ts";
import { writeThrough } from "./node/write-through.ts";

/** Loading these takes a quarter of the load time of most packages with network access. */
const WANTED_BY_PACKAGES = ["node:https", "node:zlib", "node:assert", "node:http2", "node:perf_hooks", "node:worker_threads"];

/** A process that is needed at once gets its code within this time. */
const AT_ONCE_MS = 3;

const HOST_FD = 3;

/** Nothing may start earlier, because a startup snapshot contains what was loaded until then. */
export function begin(): void {
  const child = new ComponentProcess();
  child.begin();
}

class ComponentProcess {
  readonly #exit = process.exit.bind(process);
  readonly #rss = process.memoryUsage.rss.bind(process);
  readonly #importModule = moduleImporter();
  readonly #stream = new Socket({ fd: HOST_FD });
  readonly #pipe = new MessagePipe<ToChild, ToHost>(
    this.#stream,
    {
      read: (text) => JSON.parse(text),
      message: (message) => void this.#receive(message),
      broken: () => this.#exit(1),
    },
    { writeThrough: (bytes) => writeThrough(HOST_FD, bytes) },
  );
  readonly #host = new ComponentHost({
    tell: (message) => this.#pipe.send(message),
    sendNow: (message) => this.#pipe.sendNow(message),
    importModule: this.#importModule,
  });
  #isTaken = false;
  #warm: Promise<void> = Promise.resolve();

  begin(): void {
    const host = this.#host;
    this.#stream.on("close", () => this.#exit(0));
    process.on("exit", () => this.#sendTheRest());
    process.on("unhandledRejection", (error) => host.failUncaught(error));
    process.on("uncaughtException", (error) => host.failUncaught(error));
    Object.defineProperty(globalThis, "defineComponent", { value: (definition: unknown) => definition, configurable: true, writable: true });
    const door = process.argv.includes(DOOR_WORD) ? join(dirname(process.cwd()), DOOR_FILE) : undefined;
    if (door !== undefined) leadThroughDoor(door);
    const isInspected = process.argv.includes(INSPECTOR_WORD);
    if (isInspected) startInspector();
    collectWhenQuiet();
    refuseLocalSockets();
    redirectTmp();
    answerForMissingFiles();
    showParents();
    offerOldBinding();
    goOnWithoutHooks();
    hideCallsInPromises();
    captureOutput(
      (level, text, rawFrom) => host.log(level, text, rawFrom),
      () => true,
      isInspected ? process.getBuiltinModule("node:inspector").console : undefined,
    );
    // Must come last.
    shutDoors(this.#stream, door);
    this.#pipe.send({ type: "child:ready", protocol: PROTOCOL });
    this.#warm = this.#warmUp();
  }

  /** First uses cost ten times as much as later ones. */
  async #warmUp(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, AT_ONCE_MS));
    if (this.#isTaken) return;
    await rehearse({
      url: pathToFileURL(`../${WARM_UP_FILE}`).href,
      importModule: this.#importModule,
      tell: (message) => void JSON.stringify(message),
      isOver: () => this.#isTaken,
    });
  }

  async #loadWhatPackagesWant(): Promise<void> {
    await this.#warm;
    const steps = [...WANTED_BY_PACKAGES.map((name) => () => void process.getBuiltinModule(name)), () => void Reflect.get(globalThis, "Request")];
    for (const step of steps) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#isTaken) return;
      step();
    }
  }

  async #receive(message: ToChild): Promise<void> {
    switch (message.type) {
      case "host:preload":
        await this.#importModule(message.url).catch(() => undefined);
        return this.#pipe.send({ type: "child:preloaded" });
      case "host:expect-packages":
        return this.#loadWhatPackagesWant();
      case "host:ping":
        return this.#pipe.sendNow({ type: "child:pong", memoryBytes: this.#rss() });
      case "host:stop":
        // Remaining work may finish before the host ends the process.
        this.#stream.unref();
        return;
      case "host:load":
        this.#isTaken = true;
        if (message.isCutOff === true) (await import("./component/third-parties.ts")).cutOff();
        Object.assign(process.env, message.env);
        defineModuleGlobals(message.url);
        if (message.platformApi !== undefined) leadPlatformCallsTo(message.platformApi, message.url);
        return this.#host.receive(message);
      default:
        return this.#host.receive(message);
    }
  }

  /** When the process exits within a turn. Names the call that ended it. */
  #sendTheRest(): void {
    const id = this.#host.runningCall;
    if (id !== undefined) this.#pipe.send({ type: "child:exiting", id });
    // The host sees the exit even when it does not read these messages.
    this.#pipe.sendTheRest();
  }
}

/** Breakpoints stop this thread. */
function startInspector(): void {
  new Worker(__filename, { workerData: INSPECTOR_FD }).unref();
}

/** CommonJS parts of the bundle need these globals. Making them takes half a millisecond, so each is made at first use. */
function defineModuleGlobals(url: string): void {
  defineLate("require", () => createRequire(url));
  defineLate("__filename", () => fileURLToPath(url));
  defineLate("__dirname", () => dirname(fileURLToPath(url)));
}

function defineLate(name: string, make: () => unknown): void {
  let made: unknown;
  const become = (owner: object, value: unknown): boolean => Reflect.defineProperty(owner, name, { value, configurable: true, writable: true });
  Object.defineProperty(globalThis, name, {
    get: () => {
      made ??= make();
      become(globalThis, made);
      return made;
    },
    // An object that inherits from the globals gets its own property.
    set(this: object, value: unknown) {
      become(this, value);
    },
    configurable: true,
  });
}

/** Code in a snapshot cannot use `import()`. Code that is compiled later can. */
function moduleImporter(): (url: string) => Promise<unknown> {
  return new Script("(url) => import(url)", { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext();
}
