import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { link, lstat, mkdir, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../domain/errors.ts";
import { isRecord } from "../domain/json.ts";
import { holdsCompiler, isForEditors } from "../domain/package-files.ts";
import type { Log } from "../ports/log.ts";
import { readInstalledList } from "./installed-tree.ts";
import { partialName, removeLeft } from "./partial-folders.ts";

/** Beside the sets. */
const SHARED = ".shared";
/** In a set whose files are shared, and that holds none for editors. */
const MARK = ".lean";
/** Linking that does not work on this disk, for any file. */
const NOT_HERE = new Set(["EPERM", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EROFS", "ENOSPC"]);

interface Settings {
  /** Folder of all installed packages. */
  readonly folder: string;
  readonly log: Log;
  /** Ends what goes on; the next server on the folder goes on with it. */
  readonly signal: AbortSignal;
  /** Letters and digits that nobody else draws. */
  readonly randomText: () => string;
}

/**
 * One copy on the disk of what several sets of packages have in common, by hard links, and none of what serves editors
 * alone: of googleapis that is two thirds. Packages are known by npm's checksum of them, and no script has touched
 * them. It works behind the back of whoever uses a set: a file gives way to one of the same content in one step.
 * Several processes may do so at once, and each may end at any line.
 */
export class SharedPackages {
  readonly #settings: Settings;
  /** One after the other: it is never urgent. */
  #last: Promise<void> = Promise.resolve();
  #isPossible = true;

  /** Removes what killed servers left. */
  static async open(settings: Settings): Promise<SharedPackages> {
    const folder = join(settings.folder, SHARED);
    if (await isThere(folder)) await removeLeft(folder);
    return new SharedPackages(settings);
  }

  private constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Resolves when what goes on has come to an end, which it does soon after the signal. */
  async finished(): Promise<void> {
    await this.#last;
  }

  /** Shares the files of a set, after those that were added before. Resolves when that is done, or cannot be. */
  add(set: string): Promise<void> {
    this.#last = this.#last.then(() => this.#share(set));
    return this.#last;
  }

  /** Whether a set is done. */
  has(set: string): Promise<boolean> {
    return isThere(join(set, MARK));
  }

  async #share(set: string): Promise<void> {
    if (!this.#canGoOn() || (await this.has(set))) return;
    try {
      const list = (await readInstalledList(set)) ?? {};
      const isLean = !holdsCompiler(Object.keys(list));
      for (const [path, entry] of Object.entries(list)) {
        if (/(^|\/)\.\.(\/|$)/.test(path)) continue;
        const checksum = isRecord(entry) && entry["link"] !== true && entry["inBundle"] !== true ? entry["integrity"] : undefined;
        if (typeof checksum === "string" && checksum.startsWith("sha512-")) await this.#sharePackage(join(set, path), { checksum, isLean });
        if (!this.#canGoOn()) return;
      }
      await writeFile(join(set, MARK), "");
    } catch (error) {
      this.#isPossible &&= !NOT_HERE.has(codeOf(error) ?? "");
      this.#settings.log.warn("packages could not share what they have in common: they take up more of the disk", { set, reason: messageOf(error) });
    }
  }

  #canGoOn(): boolean {
    return this.#isPossible && !this.#settings.signal.aborted;
  }

  async #sharePackage(own: string, { checksum, isLean }: { checksum: string; isLean: boolean }): Promise<void> {
    const shared = join(this.#settings.folder, SHARED, createHash("sha256").update(checksum).digest("hex").slice(0, 32));
    if (isLean) await removeForEditors([own, shared]);
    const partial = join(this.#settings.folder, SHARED, partialName(this.#settings.randomText()));
    await mkdir(partial, { recursive: true, mode: 0o700 });
    try {
      if (await isThere(shared)) await replaceAll(own, { shared, draft: join(partial, "file") });
      else await this.#keepFirst(own, { shared, partial });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  /** The first one that comes is the one that all others will have. */
  async #keepFirst(own: string, { shared, partial }: { shared: string; partial: string }): Promise<void> {
    for await (const { name, isFolder } of treeOf(own)) {
      if (isFolder) await mkdir(join(partial, name));
      else await link(join(own, name), join(partial, name)).catch(unlessFull);
    }
    await rename(partial, shared).catch((error: unknown) => {
      // Another process was quicker.
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    });
  }
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
    if (await link(join(shared, name), draft).then(() => true, unlessFull)) await rename(draft, join(own, name));
  }
}

/** A file can have only so many names: then this one stays a copy of its own. */
function unlessFull(error: unknown): false {
  if (codeOf(error) === "EMLINK") return false;
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

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
