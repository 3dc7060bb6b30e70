import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../ports/log.ts";
import { isAlive } from "../system/process/processes.ts";
import { removeFolder } from "../system/home/remove-folder.ts";

const PARTIAL = ".partial-";

/** The folder is renamed when it is complete. */
export function partialName(random: string): string {
  return `${PARTIAL}${process.pid}-${random}`;
}

/** Removes folders of killed processes, and logs failures. */
export async function removeLeft(folder: string, log: Log): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.startsWith(PARTIAL) && (await isLeft(path, name))) await removeFolder(path, log);
  }
}

/** Other processes or threads may use a folder. */
async function isLeft(path: string, name: string): Promise<boolean> {
  const pid = Number(name.slice(PARTIAL.length).split("-")[0]);
  if (pid !== process.pid) return !isAlive(pid);
  // An earlier process may have had this pid.
  const begun = await stat(path).catch(() => undefined);
  return begun !== undefined && begun.mtimeMs < Date.now() - process.uptime() * 1000;
}
