import { type ChildProcess as NodeChild, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Duplex, type Readable, type Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { codeOf, messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { EnclosedStart, Enclosure, OtherProgram, ProcessEnd } from "../wall/enclosure.ts";
import { DOOR_FILE, DOOR_WORD } from "../network/door-protocol.ts";
import { temporaryFolderOf } from "../wall/temporary-folder.ts";
import { FlowLimit } from "../channel/flow-limit.ts";
import { MessagePipe } from "../channel/message-pipe.ts";
import { NetworkDoor } from "../network/network-door.ts";
import { INSPECTOR_FD, INSPECTOR_WORD, InspectorChannel } from "../channel/inspector-channel.ts";
import { removeFolder } from "../../system/home/remove-folder.ts";
import { readToHost } from "../channel/read-message.ts";
import { MEMORY_WORD, ONE_TMP_WORD, PROGRAMS_WORD, PROTOCOL, type ToChild, type ToHost } from "../channel/protocol.ts";
import { type ChildRights, childEnv, nodeFlags, ownFolder } from "./node-flags.ts";
import { WARM_UP_COMPONENT, WARM_UP_FILE } from "../channel/warm-up-component.ts";

/** Runs an entry that implements the protocol, in place of Node. */
export interface Interpreter extends OtherProgram {
  /** Arguments before the entry. */
  readonly flags: readonly string[];
}

export interface ChildSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Omitted for Node. */
  readonly interpreter?: Interpreter | undefined;
  /** The built child entry. */
  readonly entry: string;
  /** Parent of the folders of all children. */
  readonly runFolder: string;
  /** Parent of all installed sets of packages. */
  readonly packagesFolder: string;
  readonly memoryMb: number;
  readonly enclosure: Enclosure;
  /** Address of this server's API. Calls to the hosted platform's API are redirected to it. */
  readonly apiUrl: () => string;
  /** Allows native code. Has no effect on a Node that cannot forbid it. */
  readonly allowAddons?: boolean;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of the process's stderr, such as V8's message about a full heap. */
  readonly lastWords: string;
  /** The invalid message that the process was killed for. Omitted when it sent none. */
  readonly misuse?: string;
}

/** First file descriptor after stdin, stdout, stderr and the channel. */
const FIRST_FILE = 4;
/** Modules up to this many characters are written synchronously. */
const AT_ONCE = 256 * 1024;
/** The output of a process is read for this long after it has exited. */
const LAST_WORDS_MS = 1000;

async function openDoor({ apiUrl, clock, log }: ChildSettings, folder: string): Promise<NetworkDoor> {
  try {
    return await NetworkDoor.open({ path: join(folder, DOOR_FILE), apiUrl, clock });
  } catch (error) {
    await removeFolder(folder, log);
    throw error;
  }
}

/** Returns the stdio after the channel: the wall's files, and the inspector's stream at INSPECTOR_FD. */
function behindTheChannel(files: readonly number[], isInspected: boolean): (number | "ignore" | "pipe")[] {
  const gap = Array.from({ length: INSPECTOR_FD - FIRST_FILE - files.length }, () => "ignore" as const);
  return isInspected ? [...files, ...gap, "pipe"] : [...files];
}

/** Starts the process in a separate process group, so that a signal to the server's group does not reach it. */
function spawnEnclosed(start: EnclosedStart, isInspected: boolean): NodeChild {
  const { command, words, cwd, env, files } = start;
  try {
    const node = spawn(command, words, { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe", ...behindTheChannel(files, isInspected)], detached: true });
    // A failed start emits "error" in the next turn, after `#untilExit` has subscribed.
    node.on("error", () => {});
    return node;
  } finally {
    start.release();
  }
}

/** Returns no streams when Node had no file descriptors left. Node's types do not say that `stdio` is then undefined. */
function streamsOf(node: NodeChild): readonly (Readable | Writable | null | undefined)[] {
  const streams: NodeChild["stdio"] | undefined = node.stdio;
  return streams === undefined ? [] : [...streams];
}

/** Skips a process that has exited, because another one may have its id. */
function killGroup(node: NodeChild): void {
  if (node.pid === undefined || node.exitCode !== null || node.signalCode !== null) return;
  try {
    process.kill(-node.pid, "SIGKILL");
  } catch (error) {
    // The process has not created its group yet, or is just exiting, for which some systems return EPERM.
    if (codeOf(error) === "ESRCH" || codeOf(error) === "EPERM") node.kill("SIGKILL");
    else throw error;
  }
}

/** The process exited before it was ready for a component. */
export class EndedAtStart extends Error {
  override readonly name = "EndedAtStart";
  readonly exit: ChildExit;

  constructor(exit: ChildExit) {
    super(`the sandbox process ended at its start (${exit.signal ?? exit.code}): ${exit.misuse ?? exit.lastWords}`);
    this.exit = exit;
  }

  /** False when the process was killed or could not start. Such an exit does not show that its snapshot is broken. */
  get isOwnDoing(): boolean {
    const { code, signal } = this.exit;
    return code !== null || (signal !== null && signal !== "SIGKILL");
  }
}

interface ChildStart {
  readonly folder: string;
  readonly rights: ChildRights;
  readonly door: NetworkDoor | undefined;
}

/** One child process and its folder, before and after it has loaded a component. */
export class ChildProcess {
  readonly folder: string;
  /** Rejects when the process ends before it is ready. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ChildExit>;
  /** Undefined unless the process was started with `isInspected`. */
  readonly inspector: InspectorChannel | undefined;
  readonly #node: NodeChild;
  readonly #enclosure: Enclosure;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #door: NetworkDoor | undefined;
  readonly #closed = new AbortController();
  readonly #pipe: MessagePipe<ToHost, ToChild>;
  #lastWords = "";
  #misuse: string | undefined;
  #listener: (message: ToHost) => void = () => {};
  #outputListener: (stream: "stdout" | "stderr", text: string) => void = () => {};

  /** Creates the folder and starts the process in it. Leaves neither behind when it rejects. */
  static async start(settings: ChildSettings, { name, rights = {} }: { name: string; rights?: ChildRights }): Promise<ChildProcess> {
    const folder = join(settings.runFolder, name);
    try {
      await mkdir(temporaryFolderOf(ownFolder(folder)), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, WARM_UP_FILE), `export default ${WARM_UP_COMPONENT};`);
    } catch (error) {
      // On a full disk, repeated attempts must not leave folders behind.
      await removeFolder(folder, settings.log);
      throw error;
    }
    const door = settings.enclosure.network === "public" ? await openDoor(settings, folder) : undefined;
    const child = await ChildProcess.#spawned(settings, { folder, rights, door });
    try {
      // Tells a person which process works in the folder.
      await writeFile(join(folder, "pid"), String(child.#node.pid ?? ""));
    } catch (error) {
      child.kill();
      await child.exited;
      throw error;
    }
    return child;
  }

  /** Removes the door and the folder when the process cannot be started, as when memory is full. */
  static async #spawned(settings: ChildSettings, around: ChildStart): Promise<ChildProcess> {
    try {
      return new ChildProcess(settings, around);
    } catch (error) {
      await around.door?.close();
      await removeFolder(around.folder, settings.log);
      throw error;
    }
  }

  private constructor(settings: ChildSettings, { folder, rights, door }: ChildStart) {
    this.folder = folder;
    this.#door = door;
    const [allowsPrograms, isInspected] = [rights.allowsPrograms === true, rights.isInspected === true];
    const { memoryMb = settings.memoryMb, allowsAddons = settings.allowAddons === true } = rights;
    const { interpreter } = settings;
    const words = [
      ...(interpreter?.flags ?? nodeFlags(settings, folder, rights)),
      settings.entry,
      ...(door === undefined ? [] : [DOOR_WORD]),
      ...(allowsPrograms ? [PROGRAMS_WORD] : []),
      ...(allowsPrograms || allowsAddons ? [ONE_TMP_WORD] : []),
      ...(isInspected ? [INSPECTOR_WORD] : []),
      ...(interpreter === undefined ? [] : [`${MEMORY_WORD}${memoryMb}`]),
    ];
    const own = ownFolder(folder);
    const start = settings.enclosure.enclose({
      program: interpreter,
      words,
      env: childEnv(own),
      folder,
      ownFolder: own,
      allowsPrograms,
      memoryMb,
      snapshot: rights.snapshot,
    });
    this.#enclosure = settings.enclosure;
    this.#log = settings.log;
    this.#clock = settings.clock;
    this.#node = spawnEnclosed(start, isInspected);
    const streams = streamsOf(this.#node);
    const stream = streams[3];
    const [inspector] = streams.slice(INSPECTOR_FD);
    this.inspector = inspector instanceof Duplex ? new InspectorChannel(inspector) : undefined;
    const events = {
      read: readToHost,
      message: (message: ToHost) => this.#listener(message),
      broken: (error: unknown) => {
        this.#misuse ??= messageOf(error);
        this.kill();
      },
    };
    this.#pipe = new MessagePipe(stream instanceof Duplex ? stream : new Duplex(), events, {
      // Batches the calls of requests that arrived together.
      later: setImmediate,
      limit: new FlowLimit(settings.clock),
    });
    this.#node.stdout?.setEncoding("utf8").on("data", (text: string) => this.#outputListener("stdout", text));
    this.#node.stderr?.setEncoding("utf8").on("data", (text: string) => this.#readStderr(text));
    this.exited = this.#untilExit();
    this.ready = this.#untilReady();
    this.ready.catch(() => {});
  }

  /** Replaces the previous listeners. */
  listen(onMessage: (message: ToHost) => void, onOutput: (stream: "stdout" | "stderr", text: string) => void): void {
    this.#listener = onMessage;
    this.#outputListener = onOutput;
  }

  /** Counts characters against the limit of what is read from the process. */
  charge(characters: number): void {
    this.#pipe.charge(characters);
  }

  /** `text` is the message as JSON, if the caller has it. */
  send(message: ToChild, text?: string): void {
    this.#pipe.send(message, text);
  }

  /**
   * Kills the process and its group. bubblewrap starts a second process, which waits forever when the first one is killed
   * too early. Closes the channel too, because a process that has left the group exits when the channel closes.
   */
  kill(): void {
    killGroup(this.#node);
    this.#pipe.close();
  }

  /** Writes a module into the folder and returns its URL. */
  async writeModule(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    // For a short text, a synchronous write takes less time than passing it to the thread pool.
    if (text.length <= AT_ONCE) writeFileSync(path, text);
    else await writeFile(path, text);
    return pathToFileURL(path).href;
  }

  /** Makes packages resolvable from modules in the folder. `name` is the folder inside the set of packages. */
  async linkPackages(packagesPath: string, name = "node_modules"): Promise<void> {
    await symlink(join(packagesPath, name), join(this.folder, name));
  }

  #readStderr(text: string): void {
    this.#lastWords = (this.#lastWords + text).slice(-4000);
    this.#outputListener("stderr", text);
  }

  /** Resolves at "close", which Node emits after "exit" when all output has been read. */
  async #untilExit(): Promise<ChildExit> {
    const exit = await new Promise<ProcessEnd>((resolve) => {
      // A program that the process started may keep its streams open after it has exited.
      this.#node.once("exit", () => void this.#clock.sleepUntil(this.#clock.now() + LAST_WORDS_MS, this.#closed.signal).then(() => this.#closeStreams()));
      this.#node.once("close", (code, signal) => resolve(this.#enclosure.endOf({ code, signal })));
      // A process that failed to start never emits "exit".
      this.#node.once("error", () => this.#node.pid === undefined && resolve({ code: null, signal: null }));
    });
    await this.#door?.close();
    await removeFolder(this.folder, this.#log);
    this.#closed.abort();
    return { ...exit, lastWords: this.#lastWords, ...(this.#misuse === undefined ? {} : { misuse: this.#misuse }) };
  }

  #closeStreams(): void {
    for (const stream of streamsOf(this.#node)) stream?.destroy();
  }

  #untilReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener = (message) => {
        if (message.type !== "child:ready") return;
        // Measured: the first message takes the process 1 ms longer than later ones.
        if (message.protocol === PROTOCOL) this.send({ type: "host:ping" });
        if (message.protocol === PROTOCOL) resolve();
        else reject(new Error(`the sandbox has protocol ${message.protocol}, expected ${PROTOCOL}: rebuild it`));
      };
      void this.exited.then((exit) => reject(new EndedAtStart(exit)));
    });
  }
}
