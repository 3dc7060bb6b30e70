import { closeSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

const O_CLOEXEC = 0o2000000;
const FIRST_OF_OTHERS = 3;

/** Child processes would inherit these files, such as locks, of the parent process. Linux only. */
export function closeInheritedFiles(): void {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd < FIRST_OF_OTHERS || name === process.env["NODE_CHANNEL_FD"] || !isInheritable(fd) || isOfThisProcess(fd)) continue;
    closeSync(fd);
  }
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // readdirSync used this descriptor and has closed it.
    return false;
  }
}

/** V8 opens its profile files (`--prof`) without O_CLOEXEC, and would write into the next file with the same descriptor. */
function isOfThisProcess(fd: number): boolean {
  const name = basename(readlinkSync(`/proc/self/fd/${fd}`));
  return /^(perf|jit|isolate)/.test(name) && name.split(/\D+/).includes(String(process.pid));
}
