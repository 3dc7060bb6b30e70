/**
 * The wall: bubblewrap gives each component's process namespaces of its own, in which nothing of this machine is there
 * but Node, the libraries it needs, its code and the installed packages, all of it read-only.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { PdError } from "../domain/errors.ts";
import type { SandboxUse } from "../ports/runner.ts";
import { type EnclosedStart, type Enclosure, type NodeStart, type ProcessEnd, belt } from "./enclosure.ts";
import { programBytes, seccompProgram } from "./seccomp-filter.ts";

export interface WallSettings {
  /** The built entry of the component's process. */
  readonly entry: string;
  /** Folder of all processes' own folders. */
  readonly runFolder: string;
  readonly packagesFolder: string;
  readonly memoryMb: number;
}

/** What names, certificates and times are looked up in. */
const LOOKED_UP = [
  ...under("/etc", "resolv.conf hosts nsswitch.conf host.conf gai.conf services protocols localtime ld.so.cache ssl/certs ssl/openssl.cnf pki ca-certificates"),
  ...under("/usr/share", "ca-certificates zoneinfo"),
];
/** What programs of this machine need. */
const PROGRAMS = ["/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/share/fonts", "/etc/fonts", "/etc/alternatives", "/opt"];
const OWN_FOLDER_BYTES = 512 * 2 ** 20;
/** Node itself, and buffers outside of the heap. */
const DATA_BESIDE_HEAP_MB = 768;
const MOST_OPEN_FILES = 1024;
const PROBE_TIMEOUT_MS = 5000;

/** Where bubblewrap and what limits resources are found: the folders of the system alone, never those of a user. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];

/**
 * What stands around processes here. `auto`: the wall where it can be had. Throws PD_SANDBOX_UNAVAILABLE when it cannot
 * and is wanted.
 */
export async function openEnclosure(use: SandboxUse, settings: WallSettings): Promise<Enclosure> {
  if (use === "belt") return belt("--sandbox belt", deathGuard());
  const problem = process.platform === "linux" ? undefined : `there is none on ${process.platform}`;
  const bubblewrap = findProgram("bwrap");
  const reason = problem ?? (bubblewrap === undefined ? "bubblewrap is not installed" : await probe(bubblewrap, settings));
  if (reason === undefined && bubblewrap !== undefined) return new Wall(bubblewrap, settings);
  if (use === "auto") return belt(reason ?? "", deathGuard());
  throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot enclose components in the wall: ${reason}`);
}

/** Without a wall a process ends with the server where the system can see to it. */
function deathGuard(): string[] {
  const setpriv = process.platform === "linux" ? findProgram("setpriv") : undefined;
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
}

function findProgram(name: string): string | undefined {
  return SYSTEM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Why the wall cannot be had: tried with all that it is made of. */
function probe(bubblewrap: string, settings: WallSettings): Promise<string | undefined> {
  const wall = new Wall(bubblewrap, settings);
  const { runFolder } = settings;
  const start = wall.enclose({ words: ["--version"], env: {}, folder: runFolder, ownFolder: undefined, allowsPrograms: false });
  return new Promise((resolve) => {
    const child = spawn(start.command, start.words, {
      stdio: ["ignore", "ignore", "pipe", "ignore", ...start.files],
      timeout: PROBE_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    start.release();
    let output = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(code === 0 ? undefined : output.trim().slice(0, 300) || `bubblewrap ended with ${code}`));
  });
}

/** The probe writes nowhere. */
type WalledStart = Omit<NodeStart, "ownFolder"> & { readonly ownFolder: string | undefined };

class Wall implements Enclosure {
  readonly kind = "wall";
  readonly #bubblewrap: string;
  readonly #settings: WallSettings;
  readonly #limits: readonly string[];
  readonly #libraries: readonly string[];
  /** Files that hold the filters, by whether programs may be started. */
  readonly #filters: ReadonlyMap<boolean, string>;

  constructor(bubblewrap: string, settings: WallSettings) {
    this.#bubblewrap = bubblewrap;
    this.#settings = settings;
    this.#limits = limits(settings.memoryMb);
    this.#libraries = libraries();
    this.#filters = writeFilters(join(dirname(settings.runFolder), "filters"));
  }

  enclose({ words: nodeWords, env, folder, ownFolder, allowsPrograms }: WalledStart): EnclosedStart {
    const { entry, packagesFolder } = this.#settings;
    const filter = this.#filters.get(allowsPrograms);
    const files = filter === undefined ? [] : [openSync(filter, "r")];
    const given = [
      ...NAMESPACES,
      "--clearenv",
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
      ...proc(),
      ...words("--dev /dev"),
      ...(allowsPrograms ? programs() : this.#libraries),
      ...readable(process.execPath),
      ...LOOKED_UP.flatMap((path) => ["--ro-bind-try", path, path]),
      ...readable(entry),
      ...readable(packagesFolder),
      ...readable(folder),
      // Memory, limited and gone with the process.
      ...(ownFolder === undefined ? [] : ["--size", String(OWN_FOLDER_BYTES), "--tmpfs", ownFolder, "--chdir", ownFolder]),
      // Else both are folders in memory without a limit.
      ...words("--remount-ro /dev --remount-ro /"),
      ...(files.length === 0 ? [] : ["--seccomp", String(FIRST_FILE)]),
    ];
    const [command = this.#bubblewrap, ...rest] = [...this.#limits, this.#bubblewrap, ...given, "--", process.execPath, ...nodeWords];
    return { command, words: rest, cwd: "/", env: {}, files, release: () => files.forEach(closeSync) };
  }

  /** bubblewrap ends with 128 and the number of the signal that has ended the process in it. */
  endOf({ code, signal }: ProcessEnd): ProcessEnd {
    const number = code !== null && code > 128 ? code - 128 : undefined;
    const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
    return name === undefined ? { code, signal } : { code: null, signal: name };
  }
}

/** Of stdin, stdout, stderr and the channel there are four. */
const FIRST_FILE = 4;

const NAMESPACES = words(`--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --uid 65534 --gid 65534 --cap-drop ALL
  --die-with-parent --new-session --hostname component`);

function words(text: string): string[] {
  return text.split(/\s+/);
}

function under(folder: string, names: string): string[] {
  return words(names).map((name) => join(folder, name));
}

/** Of the processes in the namespace alone; what sets the kernel can be written to by a server that is root. */
function proc(): string[] {
  const settable = ["sys", "sysrq-trigger", "irq", "bus"].map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return ["--proc", "/proc", ...settable.flatMap((path) => ["--ro-bind", path, path])];
}

function readable(path: string): string[] {
  return ["--ro-bind", path, path];
}

/** Folders of the libraries that this Node has loaded, and the links that lead to them. */
function libraries(): string[] {
  const paths = [...readFileSync("/proc/self/maps", "utf8").matchAll(/\s(\/(?:usr\/)?lib[^\s]*\.so[^\s]*)$/gm)].map(([, path = ""]) => dirname(path));
  return [...links(), ...[...new Set(paths), ...["/usr/lib64"].filter((path) => existsSync(path))].flatMap(readable)];
}

/** `/lib` and its like lead to `/usr/lib` on most systems; on others they are folders of their own. */
function links(): string[] {
  const tops = ["/lib", "/lib64", "/lib32", "/libx32"].filter((path) => existsSync(path));
  return tops.flatMap((path) => (lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : readable(path)));
}

function programs(): string[] {
  const bin = ["/bin", "/sbin"].filter((path) => existsSync(path) && lstatSync(path).isSymbolicLink());
  return [...links(), ...bin.flatMap((path) => ["--symlink", readlinkSync(path), path]), ...PROGRAMS.flatMap((path) => ["--ro-bind-try", path, path])];
}

/** Limits that the kernel keeps for each process: memory outside of the heap, open files, no dumps of memory. */
function limits(memoryMb: number): string[] {
  const prlimit = findProgram("prlimit");
  if (prlimit === undefined) return [];
  const data = (memoryMb * 2 + DATA_BESIDE_HEAP_MB) * 2 ** 20;
  return [prlimit, `--data=${data}`, "--core=0", `--nofile=${MOST_OPEN_FILES}:${MOST_OPEN_FILES}`, `--fsize=${OWN_FOLDER_BYTES}`, "--"];
}

function writeFilters(folder: string): Map<boolean, string> {
  const filters = new Map<boolean, string>();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const allowsPrograms of [false, true]) {
    const program = seccompProgram(process.arch, { allowsPrograms });
    if (program === undefined) continue;
    const path = join(folder, allowsPrograms ? "programs.bpf" : "component.bpf");
    writeFileSync(path, programBytes(program), { mode: 0o600 });
    filters.set(allowsPrograms, path);
  }
  return filters;
}
