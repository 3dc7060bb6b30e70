import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../ports/log.ts";
import { isAlive } from "../system/processes.ts";
import { removeFolder } from "../system/remove-folder.ts";

const PARTIAL = ".partial-";

/** A name for a folder that is being made, and gets its own once it is whole. `random`: letters and digits. */
export function partialName(random: string): string {
  return `${PARTIAL}${process.pid}-${random}`;
}

/** Removes what those have left that were killed while they made it. What cannot be removed is told, and is in nobody's way. */
export async function removeLeft(folder: string, log: Log): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.startsWith(PARTIAL) && (await isLeft(path, name))) await removeFolder(path, log);
  }
}

/** Nobody is at it any more; another process, or another thread of this one, may be at one, where tests share what they install. */
async function isLeft(path: string, name: string): Promise<boolean> {
  const pid = Number(name.slice(PARTIAL.length).split("-")[0]);
  if (pid !== process.pid) return !isAlive(pid);
  // The number of this process may have been that of an earlier one.
  const begun = await stat(path).catch(() => undefined);
  return begun !== undefined && begun.mtimeMs < Date.now() - process.uptime() * 1000;
}
