import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../domain/errors.ts";

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** `freeBytes` excludes blocks of root. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** 0 for a missing folder. Hard links count once. Files deleted during the walk are skipped. */
export async function folderBytes(folder: string, seen = new Set<number>()): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(gone(() => []));
  let total = 0;
  // Sequential, to not slow down other disk reads.
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += await folderBytes(path, seen);
    else if (entry.isFile())
      total += await lstat(path).then(
        ({ size, nlink, ino }) => {
          if (nlink === 1) return size;
          const isCounted = seen.has(ino);
          seen.add(ino);
          return isCounted ? 0 : size;
        },
        gone(() => 0),
      );
  }
  return total;
}

function gone<Value>(otherwise: () => Value): (error: unknown) => Value {
  return (error) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return otherwise();
    throw error;
  };
}
