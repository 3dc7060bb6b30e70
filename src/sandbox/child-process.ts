import { type ChildProcess as NodeChild, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Duplex, type Readable, type Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { codeOf, messageOf } from "../domain/errors.ts";
import type { ProcessGrant } from "../domain/process-grant.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { EnclosedStart, Enclosure, OtherProgram, ProcessEnd } from "./enclosure.ts";
import { DOOR_FILE, DOOR_WORD } from "./door-protocol.ts";
import { temporaryFolderOf } from "./temporary-folder.ts";
import { FlowLimit } from "./flow-limit.ts";
import { MessagePipe } from "./message-pipe.ts";
import { NetworkDoor } from "./network-door.ts";
import { INSPECTOR_FD, INSPECTOR_WORD, InspectorChannel } from "./inspector-channel.ts";
import { removeFolder } from "../system/remove-folder.ts";
import { readToHost } from "./read-message.ts";
import { MEMORY_WORD, ONE_TMP_WORD, PROGRAMS_WORD, PROTOCOL, type ToChild, type ToHost } from "./protocol.ts";
import { WARM_UP_COMPONENT, WARM_UP_FILE } from "./warm-up-component.ts";

/** An interpreter that runs an entry which speaks the protocol. */
export interface Interpreter extends OtherProgram {
  /** Before the entry. */
  readonly flags: readonly string[];
}

export interface ChildSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: Node. */
  readonly interpreter?: Interpreter | undefined;
  /** The built child entry. */
  readonly entry: string;
  /** Folder of all children's own folders. */
  readonly runFolder: string;
  /** Folder of all installed packages. */
  readonly packagesFolder: string;
  readonly memoryMb: number;
  readonly enclosure: Enclosure;
  /** Address of the API of this server: calls of the hosted platform are led there. */
  readonly apiUrl: () => string;
  /** Native code may be loaded, where this Node can forbid it. */
  readonly allowAddons?: boolean;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what the process itself wrote to stderr, such as V8's last words. */
  readonly lastWords: string;
  /** What it wrote into the channel that is no message; it was ended for that. */
  readonly misuse?: string;
}

/** Of each half of the space for new objects: V8 would take 16, and a component that is called often is hardly quicker with them. */
const YOUNG_MB = 4;
/** Behind stdin, stdout, stderr and the channel. */
const FIRST_FILE = 4;
/** Characters of a module that the server itself writes. */
const AT_ONCE = 256 * 1024;
/** What a process has said is read so long after its end. */
const LAST_WORDS_MS = 1000;

/** What is inherited: nothing that could hold a secret, nothing that slows the start (spec performance.md §0.1). */
const INHERITED = ["TZ", "LANG", "LC_ALL"];
/** Where packages look for programs, also those that find none. */
const PATH = "/usr/bin:/bin";

/** Where the component may write. Its code and the link to its packages lie beside it: what may write there could write to the packages of all. */
function ownFolder(folder: string): string {
  return join(folder, "own");
}

/** What each process gets of the server's variables, and what its snapshot is made with. */
export function inheritedEnv(): Readonly<Record<string, string>> {
  return Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/** Flags that each process has, and that its snapshot is made with. */
export function commonFlags({ memoryMb }: Pick<ChildSettings, "memoryMb">): readonly string[] {
  const known = process.allowedNodeEnvironmentFlags;
  const hasDatabase = known.has("--no-experimental-sqlite") || known.has("--experimental-sqlite");
  return ["--no-warnings", ...(hasDatabase ? ["--no-experimental-sqlite"] : []), `--max-old-space-size=${memoryMb}`, `--max-semi-space-size=${YOUNG_MB}`];
}

/** What a process is started for, and from. */
export interface ChildRights extends ProcessGrant {
  /** Its inspector may be spoken with. */
  readonly isInspected?: boolean | undefined;
  /** Path of the snapshot that it starts from. One that may start programs has none, since Node hands its flags on to those, and neither has one that is inspected. */
  readonly snapshot?: string | undefined;
}

/** The permission model, by the name that this Node knows it under. It takes the inspector away: who debugs a component has the enclosure alone around it. */
function permissionFlags(settings: ChildSettings, folder: string, { allowsPrograms, allowsAddons, isInspected }: ChildRights): string[] {
  if (isInspected === true) return [];
  const known = process.allowedNodeEnvironmentFlags;
  const flags = [known.has("--permission") ? "--permission" : "--experimental-permission"];
  if (known.has("--allow-net")) flags.push("--allow-net");
  if (allowsPrograms === true) flags.push("--allow-child-process");
  if ((settings.allowAddons === true || allowsAddons === true) && known.has("--allow-addons")) flags.push("--allow-addons");
  // A program that it starts is held by the wall alone, and Node may see what the program does.
  const readable = allowsPrograms === true ? ["*"] : [settings.entry, join(folder, "*"), join(settings.packagesFolder, "*")];
  return [...flags, ...readable.map((path) => `--allow-fs-read=${path}`), `--allow-fs-write=${join(ownFolder(folder), "*")}`];
}

function nodeFlags(settings: ChildSettings, folder: string, rights: ChildRights): string[] {
  const { snapshot } = rights;
  return [
    ...commonFlags({ memoryMb: rights.memoryMb ?? settings.memoryMb }),
    ...permissionFlags(settings, folder, rights),
    ...(snapshot === undefined ? [] : ["--snapshot-blob", snapshot]),
  ];
}

async function openDoor({ apiUrl, clock, log }: ChildSettings, folder: string): Promise<NetworkDoor> {
  try {
    return await NetworkDoor.open({ path: join(folder, DOOR_FILE), apiUrl, clock });
  } catch (error) {
    await removeFolder(folder, log);
    throw error;
  }
}

/** The files that the wall wants, and then, where nothing else may lie, the stream of the inspector. */
function behindTheChannel(files: readonly number[], isInspected: boolean): (number | "ignore" | "pipe")[] {
  const gap = Array.from({ length: INSPECTOR_FD - FIRST_FILE - files.length }, () => "ignore" as const);
  return isInspected ? [...files, ...gap, "pipe"] : [...files];
}

/** In a group of its own: whoever signals its group means the process alone. */
function spawnEnclosed(start: EnclosedStart, isInspected: boolean): NodeChild {
  const { command, words, cwd, env, files } = start;
  try {
    const node = spawn(command, words, { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe", ...behindTheChannel(files, isInspected)], detached: true });
    // It is told a turn later, also of a process that there is none of.
    node.on("error", () => {});
    return node;
  } finally {
    start.release();
  }
}

/** Without file descriptors for its streams there are none, whatever Node's types say. */
function streamsOf(node: NodeChild): readonly (Readable | Writable | null | undefined)[] {
  const streams: NodeChild["stdio"] | undefined = node.stdio;
  return streams === undefined ? [] : [...streams];
}

/** As long as it was not waited for, its number is no other's. */
function killGroup(node: NodeChild): void {
  if (node.pid === undefined || node.exitCode !== null || node.signalCode !== null) return;
  try {
    process.kill(-node.pid, "SIGKILL");
  } catch (error) {
    // It has not made its group yet, or has ended in this moment: some systems then say that nobody may.
    if (codeOf(error) === "ESRCH" || codeOf(error) === "EPERM") node.kill("SIGKILL");
    else throw error;
  }
}

/** A process ended before it was ready for a component. */
export class EndedAtStart extends Error {
  override readonly name = "EndedAtStart";
  readonly exit: ChildExit;

  constructor(exit: ChildExit) {
    super(`the sandbox process ended at its start (${exit.signal ?? exit.code}): ${exit.misuse ?? exit.lastWords}`);
    this.exit = exit;
  }

  /** One that was killed, or for which there was no room, says nothing of what it was started from. */
  get isOwnDoing(): boolean {
    const { code, signal } = this.exit;
    return code !== null || (signal !== null && signal !== "SIGKILL");
  }
}

/** What a process is started in. */
interface Around {
  readonly folder: string;
  readonly rights: ChildRights;
  readonly door: NetworkDoor | undefined;
}

/** One child process in a folder of its own, before and after it knows what it runs. */
export class ChildProcess {
  readonly folder: string;
  /** Rejects when the process ends before it is ready. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ChildExit>;
  /** There when it was started to be inspected. */
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

  /** Makes the folder and starts the process in it. */
  static async start(settings: ChildSettings, { name, rights = {} }: { name: string; rights?: ChildRights }): Promise<ChildProcess> {
    const folder = join(settings.runFolder, name);
    try {
      await mkdir(temporaryFolderOf(ownFolder(folder)), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, WARM_UP_FILE), `export default ${WARM_UP_COMPONENT};`);
    } catch (error) {
      // As on a full disk, time and again.
      await removeFolder(folder, settings.log);
      throw error;
    }
    const door = settings.enclosure.network === "public" ? await openDoor(settings, folder) : undefined;
    const child = await ChildProcess.#spawned(settings, { folder, rights, door });
    try {
      // A server that was killed leaves children that cannot notice it: the next one finds them by this file.
      await writeFile(join(folder, "pid"), String(child.#node.pid ?? ""));
    } catch (error) {
      child.kill();
      await child.exited;
      throw error;
    }
    return child;
  }

  /** Where nothing can be started, as without memory, nothing is left. */
  static async #spawned(settings: ChildSettings, around: Around): Promise<ChildProcess> {
    try {
      return new ChildProcess(settings, around);
    } catch (error) {
      await around.door?.close();
      await removeFolder(around.folder, settings.log);
      throw error;
    }
  }

  private constructor(settings: ChildSettings, { folder, rights, door }: Around) {
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
      env: { ...inheritedEnv(), PATH, HOME: own },
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
      // What many requests ask for that came at once.
      later: setImmediate,
      limit: new FlowLimit(settings.clock),
    });
    this.#node.stdout?.setEncoding("utf8").on("data", (text: string) => this.#outputListener("stdout", text));
    this.#node.stderr?.setEncoding("utf8").on("data", (text: string) => this.#readStderr(text));
    this.exited = this.#untilExit();
    this.ready = this.#untilReady();
    this.ready.catch(() => {});
  }

  /** Takes over everything that the process says from now on. */
  listen(onMessage: (message: ToHost) => void, onOutput: (stream: "stdout" | "stderr", text: string) => void): void {
    this.#listener = onMessage;
    this.#outputListener = onOutput;
  }

  /** Counts against what may be read of it. */
  charge(characters: number): void {
    this.#pipe.charge(characters);
  }

  /** `text`: the message as JSON, where it is known already. */
  send(message: ToChild, text?: string): void {
    this.#pipe.send(message, text);
  }

  /**
   * Ends it at once, with its group: bubblewrap starts another process, which waits for ever when the first one is killed
   * before it has told it to go on. The channel is closed as well: what has left the group ends itself when nobody listens.
   */
  kill(): void {
    killGroup(this.#node);
    this.#pipe.close();
  }

  /** Writes a module into the folder and returns its URL. */
  async writeModule(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    // A short text is written in less time than it takes to have others write it, and nothing waits for a disk.
    if (text.length <= AT_ONCE) writeFileSync(path, text);
    else await writeFile(path, text);
    return pathToFileURL(path).href;
  }

  /** Makes packages resolvable from modules in the folder. `name`: of the folder that holds them in a set of packages. */
  async linkPackages(packagesPath: string, name = "node_modules"): Promise<void> {
    await symlink(join(packagesPath, name), join(this.folder, name));
  }

  #readStderr(text: string): void {
    this.#lastWords = (this.#lastWords + text).slice(-4000);
    this.#outputListener("stderr", text);
  }

  /** `close` comes when the process has ended and all that it said has been read. */
  async #untilExit(): Promise<ChildExit> {
    const exit = await new Promise<ProcessEnd>((resolve) => {
      // What holds its streams open beyond its end is not waited for.
      this.#node.once("exit", () => void this.#clock.sleepUntil(this.#clock.now() + LAST_WORDS_MS, this.#closed.signal).then(() => this.#closeStreams()));
      this.#node.once("close", (code, signal) => resolve(this.#enclosure.endOf({ code, signal })));
      // One that was never there does not end.
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
        // What it reads and writes first costs it a millisecond more than what comes after.
        if (message.protocol === PROTOCOL) this.send({ type: "host:ping" });
        if (message.protocol === PROTOCOL) resolve();
        else reject(new Error(`the sandbox speaks protocol ${message.protocol}, not ${PROTOCOL}: build again`));
      };
      void this.exited.then((exit) => reject(new EndedAtStart(exit)));
    });
  }
}
