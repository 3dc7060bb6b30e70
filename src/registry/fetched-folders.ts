import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PdError } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";
import { removeFolder } from "../system/home/remove-folder.ts";

const PARTIAL = ".partial-";
const OLD = ".old-";

/** A registry with everything fetched for it. */
class Branch {
  readonly lock = new SharedLock();
  /** A removal increases it and so discards earlier fetches. */
  generation = 0;
}

/** Fetched as a whole, and not replaced while they are read. */
export class FetchedFolders {
  readonly #root: string;
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #branches = new Map<string, Branch>();

  /** Removes what killed fetches left, and puts back what they had moved aside. */
  static async open(root: string, log: Log): Promise<FetchedFolders> {
    const folders = new FetchedFolders(root);
    await folders.#sweep(root, log);
    return folders;
  }

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * `fill` fills an empty folder and returns the content's place in it, or undefined. Concurrent calls share a fetch.
   * Throws PD_CONFLICT when the registry is removed meanwhile.
   */
  replace(folder: string, fill: (partial: string) => Promise<string | undefined>): Promise<boolean> {
    const branch = this.#branchOf(folder);
    const running = this.#running.get(folder);
    if (running !== undefined) return running;
    const replacing = this.#replace(folder, { branch, fill }).finally(() => {
      if (this.#running.get(folder) === replacing) this.#running.delete(folder);
    });
    this.#running.set(folder, replacing);
    return replacing;
  }

  /** `folder` stays until `read` has settled. */
  reading<Value>(folder: string, read: () => Promise<Value>): Promise<Value> {
    return this.#isBelow(folder) ? this.#branchOf(folder).lock.reading(read) : read();
  }

  async remove(folder: string): Promise<void> {
    const branch = this.#branchOf(folder);
    await branch.lock.alone(async () => {
      branch.generation++;
      for (const path of this.#running.keys()) if (path === folder || path.startsWith(`${folder}/`)) this.#running.delete(path);
      await rm(folder, { recursive: true, force: true });
    });
  }

  async #replace(folder: string, { branch, fill }: { branch: Branch; fill: (partial: string) => Promise<string | undefined> }): Promise<boolean> {
    const { generation } = branch;
    await mkdir(this.#root, { recursive: true });
    // Outside of what may be removed meanwhile.
    const partial = await mkdtemp(join(this.#root, PARTIAL));
    try {
      const filled = await fill(partial);
      return await branch.lock.alone(async () => {
        if (generation !== branch.generation)
          throw new PdError("PD_CONFLICT", "Cannot use the fetched code: its registry was removed during the fetch", { fix: "pd registry list" });
        if (filled === undefined) return false;
        await mkdir(dirname(folder), { recursive: true });
        await exchange(filled, folder);
        return true;
      });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  #isBelow(folder: string): boolean {
    return folder.startsWith(`${this.#root}/`);
  }

  #branchOf(folder: string): Branch {
    if (!this.#isBelow(folder)) throw new RangeError(`${folder} is not below ${this.#root}`);
    const [name = ""] = folder.slice(this.#root.length + 1).split("/");
    const known = this.#branches.get(name) ?? new Branch();
    this.#branches.set(name, known);
    return known;
  }

  async #sweep(folder: string, log: Log): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      // Moved aside and not replaced.
      const place = entry.name.startsWith(OLD) ? join(folder, entry.name.slice(OLD.length)) : undefined;
      if (place !== undefined && !existsSync(place)) await rename(path, place);
      else if (entry.name.startsWith(PARTIAL) || place !== undefined) await removeFolder(path, log);
      else if (entry.isDirectory() && folder === this.#root) await this.#sweep(path, log);
    }
  }
}

/** Many readers or one writer. Writers precede later readers. */
class SharedLock {
  #readers = 0;
  #changing: Promise<unknown> = Promise.resolve();
  #lastHasLeft: () => void = () => {};

  async reading<Value>(read: () => Promise<Value>): Promise<Value> {
    for (let seen: unknown; seen !== this.#changing;) {
      seen = this.#changing;
      await this.#changing;
    }
    this.#readers++;
    try {
      return await read();
    } finally {
      if (--this.#readers === 0) this.#lastHasLeft();
    }
  }

  alone<Value>(change: () => Promise<Value>): Promise<Value> {
    const mine = this.#changing.then(async () => {
      if (this.#readers > 0) await new Promise<void>((resolve) => (this.#lastHasLeft = resolve));
      return change();
    });
    this.#changing = mine.catch(() => {});
    return mine;
  }
}

/** Puts the old folder back on failure. For a moment, neither exists. */
async function exchange(filled: string, folder: string): Promise<void> {
  const old = join(dirname(folder), OLD + basename(folder));
  await rm(old, { recursive: true, force: true });
  const hadOne = await rename(folder, old).then(
    () => true,
    () => false,
  );
  try {
    await rename(filled, folder);
  } catch (error) {
    if (hadOne) await rename(old, folder);
    throw error;
  }
  await rm(old, { recursive: true, force: true });
}
