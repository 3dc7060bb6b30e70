import type { Dirent } from "node:fs";
import { link, lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../domain/errors.ts";
import { isForEditors } from "../domain/component/package-files.ts";
import { isThere } from "../system/home/is-there.ts";

interface Sharing {
  /** May not exist yet. */
  readonly shared: string;
  /** Private, and removed afterwards. */
  readonly partial: string;
  readonly isLean: boolean;
}

/** Throws file system errors. */
export async function sharePackage(own: string, { shared, partial, isLean }: Sharing): Promise<void> {
  if (isLean) await removeForEditors([own, shared]);
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    if (await isThere(shared)) await replaceAll(own, { shared, draft: join(partial, "file") });
    else await keepFirst(own, { shared, partial });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function keepFirst(own: string, { shared, partial }: { shared: string; partial: string }): Promise<void> {
  for await (const { name, isFolder } of treeOf(own)) {
    if (isFolder) await mkdir(join(partial, name));
    else await link(join(own, name), join(partial, name)).catch(unlessLeftOut);
  }
  await rename(partial, shared).catch((error: unknown) => {
    // Another process was faster.
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  });
}

/** True when nothing is left. */
async function removeForEditors(places: readonly string[], inside = ""): Promise<boolean> {
  const [own = ""] = places;
  let left = 0;
  for (const entry of await entriesOf(join(own, inside))) {
    const name = join(inside, entry.name);
    const isUnused = entry.isFile() && isForEditors(entry.name);
    const isEmpty = entry.isDirectory() && entry.name !== "node_modules" && (await removeForEditors(places, name));
    if (isUnused) for (const place of places) await rm(join(place, name), { force: true });
    if (isEmpty) for (const place of places) await rmdir(join(place, name)).catch(unlessLeft);
    if (!isUnused && !isEmpty) left++;
  }
  return left === 0;
}

/** Another process was faster or added a file. */
function unlessLeft(error: unknown): void {
  if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
}

/** Replaces only files with the same name, size and mode. */
async function replaceAll(own: string, { shared, draft }: { shared: string; draft: string }): Promise<void> {
  for await (const { name, isFolder } of treeOf(own)) {
    if (isFolder) continue;
    const [mine, common] = await Promise.all([lstat(join(own, name)), lstat(join(shared, name)).catch(() => undefined)]);
    const isSame = common?.isFile() === true && common.ino !== mine.ino && common.size === mine.size && common.mode === mine.mode;
    if (!isSame) continue;
    if (await link(join(shared, name), draft).then(() => true, unlessLeftOut)) await rename(draft, join(own, name));
  }
}

/** The file has too many links, or another process removed it. It stays a copy. */
function unlessLeftOut(error: unknown): false {
  if (["EMLINK", "ENOENT"].includes(codeOf(error) ?? "")) return false;
  throw error;
}

/** Folders precede their contents. Nested packages are shared separately. */
async function* treeOf(root: string, inside = ""): AsyncGenerator<{ readonly name: string; readonly isFolder: boolean }> {
  for (const entry of await entriesOf(join(root, inside))) {
    const name = join(inside, entry.name);
    if (entry.isFile()) yield { name, isFolder: false };
    if (!entry.isDirectory() || entry.name === "node_modules") continue;
    yield { name, isFolder: true };
    yield* treeOf(root, name);
  }
}

/** Optional packages may not be installed, and another process may remove a folder. */
function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}
