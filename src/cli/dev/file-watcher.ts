import { type FSWatcher, type Stats, realpathSync, statSync, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A save is a truncation and a write, and the event of the second may be lost: so there is a second look. */
const SECOND_LOOK_MS = 20;
/** A file may be saved while its watch is being set up; this is when a watch that was just added is looked at. */
const AFTER_ADDING_MS = [30, 150, 500];
/** Some disks tell of no change, and a folder that was put back tells of none any more: so often files and folders are compared. */
const COMPARE_MS = 1000;

interface WatchedFolder {
  /** Tells which folder is watched: another one may have taken its name. `undefined`: none is. */
  identity: string | undefined;
  watcher: FSWatcher | undefined;
}

/**
 * Watches files by their folders, since a file that is moved away and put back, or is not there yet, cannot be watched
 * itself. Asks for a look whenever one may have changed, rather too often than too seldom: whoever looks compares with
 * what was seen before.
 */
export class FileWatcher {
  readonly #look: () => Promise<void>;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #comparing: NodeJS.Timeout;
  #files: readonly string[] = [];
  #moreFolders: readonly string[] = [];
  #names: ReadonlySet<string> = new Set();
  /** What the disk said of the files when they were last compared. */
  #told: string | undefined;
  #isComparing = false;
  #isBusy = false;
  #isDirty = false;
  #isClosed = false;
  #wake: () => void = () => {};

  /** `look` is never called again before it has resolved. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
    this.#comparing = setInterval(() => void this.#compare(), COMPARE_MS);
  }

  /** Watches these files from now on, and what comes to their folders, and to these: it may be one that was missing. */
  watch(files: readonly string[], moreFolders: readonly string[] = []): void {
    if (this.#isClosed) return;
    if (isSameList(files, this.#files) && isSameList(moreFolders, this.#moreFolders)) return;
    this.#files = files;
    this.#moreFolders = moreFolders;
    this.#told = undefined;
    // A link is written to elsewhere.
    const places = [...files, ...files.map(realPathOf)];
    this.#names = new Set(places.map((place) => basename(place)));
    const folders = new Set([...places.map(dirname), ...moreFolders]);
    for (const [folder, { watcher }] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher?.close();
      this.#folders.delete(folder);
    }
    const added = [...folders].filter((folder) => !this.#folders.has(folder));
    for (const folder of added)
      this.#folders.set(folder, { identity: identityOf(statSync(folder, { throwIfNoEntry: false })), watcher: this.#listenTo(folder) });
    if (added.length > 0) for (const after of AFTER_ADDING_MS) this.lookAgain(after);
  }

  /** Looks once more after this time, whatever the disk says. */
  lookAgain(afterMs: number): void {
    setTimeout(() => void this.#changed(), afterMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#comparing);
    for (const { watcher } of this.#folders.values()) watcher?.close();
    this.#folders.clear();
  }

  /** `undefined`: the system cannot tell of it, as of a folder that is not there, or when it tells of too many. Then comparing has to do. */
  #listenTo(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, (event, name) => {
        // Some systems do not name the file.
        if (event === "rename" || name === null || this.#names.has(name)) void this.#changed();
      });
      return watcher.on("error", () => {
        watcher.close();
        const watched = this.#folders.get(folder);
        if (watched?.watcher === watcher) watched.watcher = undefined;
      });
    } catch {
      return undefined;
    }
  }

  async #compare(): Promise<void> {
    // A disk may take its time to tell.
    if (this.#isComparing) return;
    this.#isComparing = true;
    await Promise.all([...this.#folders].map(([folder, watched]) => this.#keepListening(folder, watched)));
    const files = this.#files;
    const told = (await Promise.all(files.map(async (file) => tellingOf(await statIfThere(file))))).join("\n");
    this.#isComparing = false;
    if (files !== this.#files || told === this.#told) return;
    this.#told = told;
    void this.#changed();
  }

  /** A folder that was put back is another one. */
  async #keepListening(folder: string, watched: WatchedFolder): Promise<void> {
    const identity = identityOf(await statIfThere(folder));
    if (this.#folders.get(folder) !== watched) return;
    const isSame = watched.watcher !== undefined && watched.identity === identity;
    watched.identity = identity;
    if (isSame) return;
    watched.watcher?.close();
    watched.watcher = identity === undefined ? undefined : this.#listenTo(folder);
  }

  async #changed(): Promise<void> {
    this.#isDirty = true;
    this.#wake();
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      await this.#look();
      await this.#untilNextOr(SECOND_LOOK_MS);
      if (!this.#isDirty && !this.#isClosed) await this.#look();
    }
    this.#isBusy = false;
  }

  /** Until something has changed again, and at most so long. */
  async #untilNextOr(ms: number): Promise<void> {
    if (this.#isDirty) return;
    const changed = new Promise<void>((resolve) => (this.#wake = resolve));
    await Promise.race([changed, sleep(ms)]);
  }
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, place) => one === right[place]);
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statIfThere(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** Other text after every change. */
function tellingOf(file: Stats | undefined): string {
  return file === undefined ? "" : `${file.ino} ${file.size} ${file.mtimeMs} ${file.ctimeMs}`;
}

function identityOf(folder: Stats | undefined): string | undefined {
  return folder === undefined ? undefined : `${folder.dev} ${folder.ino} ${folder.birthtimeMs}`;
}
