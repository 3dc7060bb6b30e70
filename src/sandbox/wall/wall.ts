/**
 * bubblewrap gives each component's process namespaces that contain only Node, its libraries, the component's code and the
 * installed packages, all read-only.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { makeFolder } from "../../system/home/make-folder.ts";
import { PdError } from "../../domain/errors.ts";
import type { ComponentNetwork, SandboxUse } from "../../ports/runner.ts";
import { type ComponentStart, type EnclosedStart, type Enclosure, type ProcessEnd, type ToolStart, belt } from "./enclosure.ts";
import { programBytes, seccompProgram } from "./seccomp-filter.ts";
import { temporaryFolderOf } from "./temporary-folder.ts";
import { LOOKUPS, buildTools, emptied, inMemory, libraries, proc, programs, readable, readableAt, readableIfThere, words, writable } from "./wall-mounts.ts";

export interface WallSettings {
  readonly entry: string;
  readonly runFolder: string;
  readonly packagesFolder: string;
  readonly memoryMb: number;
  readonly network: ComponentNetwork;
}

const OWN_FOLDER_BYTES = 512 * 2 ** 20;
const TOOL_MEMORY_FOLDER_BYTES = 2 ** 30;
/** Node itself, and buffers outside the heap. */
const DATA_BESIDE_HEAP_MB = 768;
const TOOL_DATA_MB = 4096;
const MOST_OPEN_FILES = 1024;
/** The kernel counts all processes and threads of the user, but not root's. */
const MOST_TASKS_OF_USER = 4096;
const PROBE_TIMEOUT_MS = 5000;
const MOST_PROBES = 3;

/** Programs are searched only in system folders, never in a user's. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];

/** `auto` uses the wall when it is available. Throws PD_SANDBOX_UNAVAILABLE when a required wall is not. */
export async function openEnclosure(use: SandboxUse, settings: WallSettings): Promise<Enclosure> {
  for (const folder of [settings.runFolder, settings.packagesFolder]) await makeFolder(folder, 0o700);
  const withoutWall = (reason: string): Enclosure => {
    if (settings.network === "open") return belt(reason, deathGuard());
    throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot limit components to public addresses: this needs the wall, which is not available (${reason})`, {
      fix: "Install bubblewrap, or start the server with --component-network open",
    });
  };
  if (use === "belt") return withoutWall("--sandbox belt");
  const tried = await tryWallHere(settings);
  if ("wall" in tried) return tried.wall;
  const { reason } = tried;
  if (use === "auto") return withoutWall(reason);
  throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot enclose components in the wall: ${reason}`);
}

async function tryWallHere(settings: WallSettings): Promise<TriedWall> {
  if (process.platform !== "linux") return { reason: `no wall on ${process.platform}` };
  const bubblewrap = findProgram("bwrap");
  return bubblewrap === undefined ? { reason: "bubblewrap is not installed" } : tryWall(bubblewrap, settings);
}

/** Without a wall, setpriv ends the process with the server. */
function deathGuard(): string[] {
  const setpriv = process.platform === "linux" ? findProgram("setpriv") : undefined;
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
}

function findProgram(name: string): string | undefined {
  return SYSTEM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

type TriedWall = { readonly wall: Enclosure } | { readonly reason: string };

/**
 * Returns the wall, or why it is not available. An attempt that was killed or timed out proves nothing and is repeated, so
 * that components do not lose the wall. Throws PD_SANDBOX_UNAVAILABLE when no attempt finishes.
 */
export async function tryWall(bubblewrap: string, settings: WallSettings): Promise<TriedWall> {
  const wall = new Wall(bubblewrap, settings);
  let end: ProbeEnd = { isKilled: true, reason: "" };
  for (let tries = 0; end.isKilled && tries < MOST_PROBES; tries++) end = await probeOnce(wall, settings);
  if (!end.isKilled) return end.reason === undefined ? { wall } : { reason: end.reason };
  throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot check whether the wall is available: ${MOST_PROBES} attempts were ${end.reason}`, {
    fix: "Start the server again when the machine is less busy, or with --sandbox belt",
  });
}

/** bubblewrap's exit codes when a signal killed the program inside. */
const KILLED_INSIDE: ReadonlyMap<number | null, NodeJS.Signals> = new Map([
  [128 + 9, "SIGKILL"],
  [128 + 15, "SIGTERM"],
]);

interface ProbeEnd {
  readonly isKilled: boolean;
  /** Undefined when the wall works. */
  readonly reason: string | undefined;
}

function probeOnce(wall: Wall, { runFolder, memoryMb }: WallSettings): Promise<ProbeEnd> {
  const start = wall.enclose({ words: ["--version"], env: {}, folder: runFolder, ownFolder: undefined, allowsPrograms: false, memoryMb });
  return new Promise((resolve) => {
    const child = spawn(start.command, start.words, {
      stdio: ["ignore", "ignore", "pipe", "ignore", ...start.files],
      timeout: PROBE_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    start.release();
    let output = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", (error) => resolve({ isKilled: false, reason: error.message }));
    child.once("exit", (code, signal) => {
      if (code === 0) resolve({ isKilled: false, reason: undefined });
      const killedBy = signal ?? KILLED_INSIDE.get(code);
      // Any other signal is a real failure, such as a forbidden system call.
      if (killedBy !== "SIGKILL" && killedBy !== "SIGTERM") return;
      // A surviving part may hold the pipe, so `close` may never come.
      child.stderr?.destroy();
      resolve({ isKilled: true, reason: `ended by ${killedBy}` });
    });
    child.once("close", (code, signal) => resolve({ isKilled: false, reason: output.trim().slice(0, 300) || `bubblewrap ended with ${code ?? signal}` }));
  });
}

type WalledStart = Omit<ComponentStart, "ownFolder"> & { readonly ownFolder: string | undefined };

class Wall implements Enclosure {
  readonly kind = "wall";
  readonly network: ComponentNetwork;
  readonly #bubblewrap: string;
  readonly #settings: WallSettings;
  readonly #libraries: readonly string[];
  /** Mounted program folders may contain this folder. */
  readonly #home: string;
  readonly #filters: ReadonlyMap<string, string>;
  readonly #users: string;

  constructor(bubblewrap: string, settings: WallSettings) {
    this.#bubblewrap = bubblewrap;
    this.#settings = settings;
    this.network = settings.network;
    this.#libraries = libraries();
    this.#home = dirname(settings.runFolder);
    const folder = join(this.#home, "filters");
    this.#filters = writeFilters(folder);
    this.#users = join(folder, "passwd");
    writeFileSync(this.#users, USERS, { mode: 0o600 });
  }

  enclose({ program, words: programWords, env, folder, ownFolder, snapshot, allowsPrograms, memoryMb }: WalledStart): EnclosedStart {
    const { entry, packagesFolder } = this.#settings;
    const { path: programPath, readable: ownFiles } = program ?? { path: process.execPath, readable: [entry] };
    const mounts = [
      // Must precede other mounts under /tmp. Only Node's `fs` is redirected; other programs need a real `/tmp`.
      ...(program === undefined ? [] : inMemory("/tmp", OWN_FOLDER_BYTES)),
      "--clearenv",
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
      ...(allowsPrograms ? [...programs(), ...emptied(this.#home)] : this.#libraries),
      ...readable(programPath),
      ...LOOKUPS,
      ...ownFiles.flatMap(readable),
      ...(snapshot === undefined ? [] : readable(snapshot)),
      ...readable(packagesFolder),
      ...readable(folder),
      ...readableAt(this.#users, "/etc/passwd"),
      ...(ownFolder === undefined ? [] : inMemory(ownFolder, OWN_FOLDER_BYTES)),
      ...(program === undefined ? this.#temporary(ownFolder) : ["--setenv", "TMPDIR", "/tmp"]),
      ...(ownFolder === undefined ? [] : ["--chdir", ownFolder]),
    ];
    const start = {
      programPath,
      words: programWords,
      mounts,
      allowsPrograms,
      limits: componentLimits(memoryMb, allowsPrograms),
      filterFile: AFTER_THE_CHANNEL,
      network: this.network,
    };
    return { ...this.#start(start), cwd: "/", env: {} };
  }

  /** Where `fs` redirects `/tmp`, for programs and native code. When this server is under `/tmp`, only TMPDIR names the folder. */
  #temporary(ownFolder: string | undefined): string[] {
    if (ownFolder === undefined) return [];
    const { entry, packagesFolder } = this.#settings;
    const isTaken = [process.execPath, entry, packagesFolder, ownFolder].some((path) => path.startsWith("/tmp/"));
    const folder = temporaryFolderOf(ownFolder);
    const link = isTaken ? [] : ["--symlink", folder, "/tmp"];
    return ["--dir", folder, ...link, "--setenv", "TMPDIR", isTaken ? folder : "/tmp"];
  }

  encloseTool({ program, words: programWords, env, folder, readable: toRead, writable: toWrite, allowsPrograms }: ToolStart): EnclosedStart {
    const mounts = [
      ...inMemory("/tmp", TOOL_MEMORY_FOLDER_BYTES),
      ...(allowsPrograms ? [...buildTools(), ...emptied(this.#home)] : this.#libraries),
      ...readable(program?.path ?? process.execPath),
      ...LOOKUPS,
      ...[...(program?.readable ?? []), ...toRead].flatMap(readableIfThere),
      ...[folder, ...toWrite].flatMap(writable),
      "--chdir",
      folder,
    ];
    // Tools that fetch packages use this machine's network. Programs in packages get the components' network.
    const network = allowsPrograms ? this.network : "open";
    const programPath = program?.path ?? process.execPath;
    const start = { programPath, words: programWords, mounts, allowsPrograms, limits: limits(TOOL_DATA_MB), filterFile: AFTER_OUTPUT, network };
    return { ...this.#start(start), cwd: "/", env: { ...env, HOME: "/tmp", TMPDIR: "/tmp" } };
  }

  /** bubblewrap exits with 128 plus the signal's number. */
  endOf({ code, signal }: ProcessEnd): ProcessEnd {
    const number = code !== null && code > 128 ? code - 128 : undefined;
    const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
    return name === undefined ? { code, signal } : { code: null, signal: name };
  }

  #start(start: WallStart): Pick<EnclosedStart, "command" | "words" | "files" | "release"> {
    const filter = this.#filters.get(filterName(start));
    const files = filter === undefined ? [] : [openSync(filter, "r")];
    const given = [
      ...NAMESPACES,
      ...(start.network === "public" ? ["--unshare-net"] : []),
      ...proc(),
      ...words("--dev /dev"),
      ...start.mounts,
      // Otherwise both are folders in memory without a limit.
      ...words("--remount-ro /dev --remount-ro /"),
      ...(files.length === 0 ? [] : ["--seccomp", String(start.filterFile)]),
    ];
    const [command = this.#bubblewrap, ...rest] = [...start.limits, this.#bubblewrap, ...given, "--", start.programPath, ...start.words];
    return { command, words: rest, files, release: () => files.forEach(closeSync) };
  }
}

interface WallKind {
  readonly allowsPrograms: boolean;
  readonly network: ComponentNetwork;
}

interface WallStart extends WallKind {
  readonly programPath: string;
  readonly words: readonly string[];
  readonly mounts: readonly string[];
  readonly limits: readonly string[];
  readonly filterFile: number;
}

function filterName({ allowsPrograms, network }: WallKind): string {
  return `${allowsPrograms ? "programs" : "component"}-${network}.bpf`;
}

/** Packages ask for the name of their user. */
const USERS = "component:x:65534:65534:component:/tmp:/usr/sbin/nologin\n";

/** The first descriptor after stdin, stdout and stderr. A component also has a channel. */
const AFTER_OUTPUT = 3;
const AFTER_THE_CHANNEL = 4;

const NAMESPACES = words(`--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --uid 65534 --gid 65534 --cap-drop ALL
  --die-with-parent --new-session --hostname component`);

function limits(dataMb: number, others: readonly string[] = []): string[] {
  const prlimit = findProgram("prlimit");
  return prlimit === undefined ? [] : [prlimit, `--data=${dataMb * 2 ** 20}`, "--core=0", ...others, "--"];
}

function componentLimits(memoryMb: number, allowsPrograms: boolean): string[] {
  const others = [`--nofile=${MOST_OPEN_FILES}:${MOST_OPEN_FILES}`, `--fsize=${OWN_FOLDER_BYTES}`];
  // Without programs, the filter forbids new processes.
  return limits(memoryMb * 2 + DATA_BESIDE_HEAP_MB, [...others, ...(allowsPrograms ? [`--nproc=${MOST_TASKS_OF_USER}`] : [])]);
}

function writeFilters(folder: string): Map<string, string> {
  const filters = new Map<string, string>();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kinds = [false, true].flatMap((allowsPrograms) => (["open", "public"] as const).map((network) => ({ allowsPrograms, network })));
  for (const kind of kinds) {
    // Browsers need local sockets. Without a network, they can reach only the door.
    const allowsLocalSockets = kind.allowsPrograms || kind.network === "public";
    const program = seccompProgram(process.arch, { allowsPrograms: kind.allowsPrograms, allowsLocalSockets });
    if (program === undefined) continue;
    const path = join(folder, filterName(kind));
    writeFileSync(path, programBytes(program), { mode: 0o600 });
    filters.set(filterName(kind), path);
  }
  return filters;
}
