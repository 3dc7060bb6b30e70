import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const PARTIAL = ".partial-";
const OLD = ".old-";

/** Folders whose content is fetched as a whole, never in parts. */
export class FetchedFolders {
  readonly #root: string;
  /** Folder → what is being fetched into it. */
  readonly #running = new Map<string, Promise<boolean>>();

  /** Removes what killed fetches left below `root`. */
  static async open(root: string): Promise<FetchedFolders> {
    const folders = new FetchedFolders(root);
    await folders.#sweep(root);
    return folders;
  }

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * Fills an empty folder, which then takes the place of `folder`; `fill` tells where in it the content is, or
   * `undefined` when there is none. Whoever wants the same meanwhile gets what is on its way.
   */
  replace(folder: string, fill: (partial: string) => Promise<string | undefined>): Promise<boolean> {
    if (!folder.startsWith(`${this.#root}/`)) throw new RangeError(`${folder} is not below ${this.#root}`);
    const running = this.#running.get(folder) ?? this.#replace(folder, fill).finally(() => this.#running.delete(folder));
    this.#running.set(folder, running);
    return running;
  }

  async #replace(folder: string, fill: (partial: string) => Promise<string | undefined>): Promise<boolean> {
    await mkdir(dirname(folder), { recursive: true });
    const partial = await mkdtemp(join(dirname(folder), PARTIAL));
    try {
      const filled = await fill(partial);
      if (filled === undefined) return false;
      await exchange(filled, folder);
      return true;
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  async #sweep(folder: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(PARTIAL) || entry.name.startsWith(OLD)) await rm(path, { recursive: true, force: true });
      else if (entry.isDirectory() && folder === this.#root) await this.#sweep(path);
    }
  }
}

/** For a moment there is neither; should the new one not get there, the old one is put back. */
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
