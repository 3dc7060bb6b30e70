import type { Dirent } from "node:fs";
import { link, lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../domain/errors.ts";
import { isForEditors } from "../domain/package-files.ts";
import { isThere } from "../system/is-there.ts";

interface Sharing {
  /** Where the one copy lies, or will. */
  readonly shared: string;
  /** A folder of nobody else's, which is removed afterwards. */
  readonly partial: string;
  /** Without what serves editors alone. */
  readonly isLean: boolean;
}

/** Has one package of a set share its files with all others of the same checksum. Throws what the disk says. */
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

/** The first one that comes is the one that all others will have. */
async function keepFirst(own: string, { shared, partial }: { shared: string; partial: string }): Promise<void> {
  for await (const { name, isFolder } of treeOf(own)) {
    if (isFolder) await mkdir(join(partial, name));
    else await link(join(own, name), join(partial, name)).catch(unlessLeftOut);
  }
  await rename(partial, shared).catch((error: unknown) => {
    // Another process was quicker.
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  });
}

/** Removes what serves editors alone, and folders that held nothing else; an earlier version has shared it as well. Tells whether nothing is left. */
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

/** Another process was quicker, or has put something there. */
function unlessLeft(error: unknown): void {
  if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
}

/** Files of a package give way to those of the same name, size and rights that are shared. */
async function replaceAll(own: string, { shared, draft }: { shared: string; draft: string }): Promise<void> {
  for await (const { name, isFolder } of treeOf(own)) {
    if (isFolder) continue;
    const [mine, common] = await Promise.all([lstat(join(own, name)), lstat(join(shared, name)).catch(() => undefined)]);
    const isSame = common?.isFile() === true && common.ino !== mine.ino && common.size === mine.size && common.mode === mine.mode;
    if (!isSame) continue;
    if (await link(join(shared, name), draft).then(() => true, unlessLeftOut)) await rename(draft, join(own, name));
  }
}

/** A file can have only so many names, and another process may have removed it: then this one stays a copy of its own. */
function unlessLeftOut(error: unknown): false {
  if (["EMLINK", "ENOENT"].includes(codeOf(error) ?? "")) return false;
  throw error;
}

/** Folders and plain files of one package, a folder before what lies in it; packages inside of it are told for themselves. */
async function* treeOf(root: string, inside = ""): AsyncGenerator<{ readonly name: string; readonly isFolder: boolean }> {
  for (const entry of await entriesOf(join(root, inside))) {
    const name = join(inside, entry.name);
    if (entry.isFile()) yield { name, isFolder: false };
    if (!entry.isDirectory() || entry.name === "node_modules") continue;
    yield { name, isFolder: true };
    yield* treeOf(root, name);
  }
}

/** An optional package for other machines is listed, and not there; an empty folder another process may have removed. */
function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}
