import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

const LOOKED_UP = [
  ...under("/etc", "resolv.conf hosts nsswitch.conf host.conf gai.conf services protocols localtime ld.so.cache ssl/certs ssl/openssl.cnf pki ca-certificates"),
  ...under("/usr/share", "ca-certificates zoneinfo"),
];
const PROGRAMS = [
  "/usr/bin",
  "/usr/lib",
  "/usr/lib64",
  "/usr/lib32",
  "/usr/libexec",
  "/usr/share/fonts",
  "/etc/fonts",
  "/etc/chromium.d",
  "/etc/chromium",
  "/etc/alternatives",
  "/opt/google",
  "/opt/microsoft",
];

export const LOOKUPS: readonly string[] = LOOKED_UP.flatMap(readableIfThere);

export function words(text: string): string[] {
  return text.split(/\s+/);
}

export function readable(path: string): string[] {
  return readableAt(path, path);
}

export function readableAt(path: string, place: string): string[] {
  return ["--ro-bind", path, place];
}

export function readableIfThere(path: string): string[] {
  return ["--ro-bind-try", path, path];
}

export function writable(path: string): string[] {
  return ["--bind", path, path];
}

/** The folder disappears with the process. */
export function inMemory(path: string, bytes: number): string[] {
  return ["--size", String(bytes), "--tmpfs", path];
}

/** Kernel settings, and files that reveal kernel memory. Root could use both. */
const SETTABLE = existing("sys sysrq-trigger irq bus");
const TELLING = existing(
  "kcore kallsyms kmsg slabinfo vmallocinfo timer_list keys key-users latency_stats iomem ioports modules kpagecount kpageflags kpagecgroup",
);

export function proc(): string[] {
  return ["--proc", "/proc", ...SETTABLE.flatMap(readable), ...TELLING.flatMap(hidden)];
}

function existing(names: string): string[] {
  return under("/proc", names).filter((path) => existsSync(path));
}

export function libraries(): string[] {
  const paths = [...readFileSync("/proc/self/maps", "utf8").matchAll(/\s(\/(?:usr\/)?lib[^\s]*\.so[^\s]*)$/gm)].map(([, path = ""]) => dirname(path));
  return [...libraryLinks(), ...[...new Set(paths), ...["/usr/lib64"].filter((path) => existsSync(path))].flatMap(readable)];
}

export function programs(): string[] {
  return [...libraryLinks(), ...programLinks(), ...PROGRAMS.flatMap(readableIfThere)];
}

export function buildTools(): string[] {
  return [...libraryLinks(), ...programLinks(), ...readable("/usr"), ...readableIfThere("/etc/alternatives"), ...NPM_SETTINGS.flatMap(hidden)];
}

/** These files may hold tokens. */
const NPM_SETTINGS = ["/usr/etc/npmrc", "/usr/local/etc/npmrc"].filter((path) => existsSync(path));

function hidden(path: string): string[] {
  return ["--ro-bind", "/dev/null", path];
}

/** Hides the folder's contents, except later mounts in it. */
export function emptied(path: string): string[] {
  return inMemory(path, 2 ** 20);
}

function programLinks(): string[] {
  const links = ["/bin", "/sbin"].filter((path) => existsSync(path) && lstatSync(path).isSymbolicLink());
  return links.flatMap((path) => ["--symlink", readlinkSync(path), path]);
}

/** On most systems these are links to `/usr/lib`, on others folders. */
function libraryLinks(): string[] {
  const tops = ["/lib", "/lib64", "/lib32", "/libx32"].filter((path) => existsSync(path));
  return tops.flatMap((path) => (lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : readable(path)));
}

function under(folder: string, names: string): string[] {
  return words(names).map((name) => `${folder}/${name}`);
}
