import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Resources of a process, its descendants and its folder. */
export interface Footprint {
  /** Proportional (PSS): shared memory counts once. */
  readonly memoryMb: number;
  readonly files: number;
  readonly processes: number;
  readonly threads: number;
  readonly diskMb: number;
  readonly entries: number;
}

const LOOK_EVERY_MS = 2000;

/** Once it has not shrunk for `quietMs`: the program cleans up in the background. */
export async function settledFootprint(pid: number, folder: string, quietMs: number): Promise<Footprint> {
  let last = footprint(pid, folder);
  let least = last;
  for (let since = Date.now(); Date.now() - since < quietMs; await sleep(LOOK_EVERY_MS)) {
    last = footprint(pid, folder);
    if (last.memoryMb < least.memoryMb - 2 || last.diskMb < least.diskMb - 0.1 || last.processes < least.processes) {
      since = Date.now();
      least = last;
    }
  }
  return last;
}

export function footprint(pid: number, folder: string): Footprint {
  const pids = treeOf(pid);
  const disk = diskOf(folder);
  const sum = (pick: (one: number) => number): number => pids.reduce((total, one) => total + pick(one), 0);
  return {
    memoryMb: Math.round(sum((one) => Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${one}/smaps_rollup`))?.[1] ?? 0)) / 102.4) / 10,
    files: sum((one) => namesIn(`/proc/${one}/fd`).length),
    processes: pids.length,
    threads: sum((one) => namesIn(`/proc/${one}/task`).length),
    diskMb: Math.round((disk.bytes / 2 ** 20) * 10) / 10,
    entries: disk.entries,
  };
}

function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of namesIn("/proc")
    .map(Number)
    .filter((number) => number > 0)) {
    const stat = textOf(`/proc/${pid}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root);
}

function diskOf(path: string): { bytes: number; entries: number } {
  const total = { bytes: 0, entries: 0 };
  for (const name of namesIn(path)) {
    const stat = statSync(join(path, name), { throwIfNoEntry: false });
    if (stat === undefined) continue;
    const inner = stat.isDirectory() ? diskOf(join(path, name)) : { bytes: 0, entries: 0 };
    // SQLite never shrinks its log, whose size shows the load and no leak.
    if (!name.endsWith("-wal")) total.bytes += stat.blocks * 512 + inner.bytes;
    total.entries += 1 + inner.entries;
  }
  return total;
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
