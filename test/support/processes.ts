import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../src/domain/errors.ts";

export async function componentPids(home: string): Promise<number[]> {
  const folders = await readdir(join(home, "run"));
  const texts = await Promise.all(folders.map((name) => readFile(join(home, "run", name, "pid"), "utf8").catch(() => "")));
  return texts.map(Number).filter((pid) => pid > 0);
}

/** Simulates the out-of-memory killer. */
export async function killComponents(home: string): Promise<void> {
  for (const pid of await componentPids(home)) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

export async function killBundler(): Promise<void> {
  for (const pid of (await readdir("/proc")).map(Number).filter((number) => number > 0)) {
    const [status, command] = await Promise.all(["stat", "cmdline"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")));
    const parent = Number(/\) \w (\d+)/.exec(status ?? "")?.[1]);
    if (parent === process.pid && command?.includes("esbuild") === true) kill(pid);
  }
}
