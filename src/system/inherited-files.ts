import { closeSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

const O_CLOEXEC = 0o2000000;
const FIRST_OF_OTHERS = 3;

/**
 * Closes files that whoever started this process had open, such as locks: every process that is started from here
 * would have them as well. Only where the system tells of them.
 */
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
    // It was the one that read the list, and is closed by now.
    return false;
  }
}

/**
 * V8 opens the files of its profiles (`--perf-basic-prof`, `--prof`) as if they were to be inherited; it names them by the
 * process. Were one closed, V8 would write into the next file that gets its number.
 */
function isOfThisProcess(fd: number): boolean {
  const name = basename(readlinkSync(`/proc/self/fd/${fd}`));
  return /^(perf|jit|isolate)/.test(name) && name.split(/\D+/).includes(String(process.pid));
}
