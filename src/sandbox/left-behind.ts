import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../domain/errors.ts";
import type { ChildSettings } from "./child-process.ts";
import { removeFolder } from "../system/remove-folder.ts";

/** Ends processes whose server was killed, even while they were being enclosed. */
export async function sweep(settings: ChildSettings): Promise<void> {
  const { runFolder, log } = settings;
  for (const pid of await leftBehind(settings)) {
    log.warn("killing a process that an earlier server left behind", { pid });
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // The process may only look like ours, or was started by sudo.
      if (codeOf(error) === "EPERM") log.error("cannot kill a process that an earlier server left behind: it belongs to another user", { pid });
      else if (codeOf(error) !== "ESRCH") throw error;
    }
  }
  for (const name of await readdir(runFolder)) await removeFolder(join(runFolder, name), log);
}

/** Processes whose command names the child entry and this folder, which no other server uses. Empty without /proc. */
async function leftBehind({ entry, runFolder }: ChildSettings): Promise<readonly number[]> {
  const pids = (await readdir("/proc").catch(() => [])).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_pid, index) => {
    const words = commands[index]?.split("\0") ?? [];
    return words.includes(entry) && words.some((word) => word.includes(join(runFolder, "/")));
  });
}
