import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../domain/errors.ts";

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What is left, for who may not use what is kept back for the system, of the disk that a folder lies on. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Bytes of all files under a folder, each once, however many names it has; 0 where there is none. What goes while it is looked at is not counted. */
export async function folderBytes(folder: string, seen = new Set<number>()): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(gone(() => []));
  let total = 0;
  // One folder after the other: this is never urgent, and others want to read as well.
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
