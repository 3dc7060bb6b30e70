import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PdError } from "../domain/errors.ts";

const PARTIAL = ".partial-";
const OLD = ".old-";

/** What is on its way into a folder. */
interface Fetch {
  readonly done: Promise<boolean>;
  /** False: the folder was given up meanwhile. */
  isWanted: boolean;
}

/** Folders whose content is fetched as a whole, never in parts, and stays while it is read. */
export class FetchedFolders {
  readonly #root: string;
  readonly #running = new Map<string, Fetch>();
  readonly #turns = new Map<string, Turns>();

  /** Removes what killed fetches left below `root`, and puts back what they had moved away. */
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
   * `undefined` when there is none. Whoever wants the same meanwhile gets what is on its way. Throws PD_CONFLICT when the
   * folder is given up meanwhile.
   */
  replace(folder: string, fill: (partial: string) => Promise<string | undefined>): Promise<boolean> {
    if (!folder.startsWith(`${this.#root}/`)) throw new RangeError(`${folder} is not below ${this.#root}`);
    const running = this.#running.get(folder);
    if (running !== undefined) return running.done;
    const done = Promise.resolve()
      .then(() => this.#replace(folder, { fill, isWanted: () => fetch.isWanted }))
      .finally(() => {
        if (this.#running.get(folder) === fetch) this.#running.delete(folder);
      });
    const fetch: Fetch = { done, isWanted: true };
    this.#running.set(folder, fetch);
    return done;
  }

  /** Nothing takes its place until `read` is done. */
  reading<Value>(folder: string, read: () => Promise<Value>): Promise<Value> {
    return this.#turnsOf(folder).reading(read);
  }

  /** Removes a folder with all in it. What is on its way into it is for nobody any more. */
  async remove(folder: string): Promise<void> {
    for (const [path, fetch] of this.#running) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue;
      fetch.isWanted = false;
      this.#running.delete(path);
      // It may have its turn just now.
      await this.#turnsOf(path).alone(async () => {});
    }
    await this.#turnsOf(folder).alone(() => rm(folder, { recursive: true, force: true }));
  }

  async #replace(folder: string, { fill, isWanted }: { fill: (partial: string) => Promise<string | undefined>; isWanted: () => boolean }): Promise<boolean> {
    await mkdir(dirname(folder), { recursive: true });
    const partial = await mkdtemp(join(dirname(folder), PARTIAL));
    try {
      const filled = await fill(partial);
      return await this.#turnsOf(folder).alone(async () => {
        if (!isWanted()) throw new PdError("PD_CONFLICT", "What was fetched is not used: its registry was removed meanwhile", { fix: "pd registry list" });
        if (filled !== undefined) await exchange(filled, folder);
        return filled !== undefined;
      });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  #turnsOf(folder: string): Turns {
    const known = this.#turns.get(folder) ?? new Turns();
    this.#turns.set(folder, known);
    return known;
  }

  async #sweep(folder: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      // It was moved away, and nothing came in its place.
      const place = entry.name.startsWith(OLD) ? join(folder, entry.name.slice(OLD.length)) : undefined;
      if (place !== undefined && !existsSync(place)) await rename(path, place);
      else if (entry.name.startsWith(PARTIAL) || place !== undefined) await rm(path, { recursive: true, force: true });
      else if (entry.isDirectory() && folder === this.#root) await this.#sweep(path);
    }
  }
}

/** Many read at once; whoever changes something is alone, and comes before those who read later. */
class Turns {
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
