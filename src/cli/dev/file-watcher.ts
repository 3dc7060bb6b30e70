import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";

/** A save is a truncation and a write, and the event of the second may be lost: so there is a second look. */
const SECOND_LOOK_MS = 20;
/** A file may be saved while its watch is being set up; this is when a watch that was just added is looked at. */
const AFTER_ADDING_MS = [30, 150, 500];

/**
 * Watches files by their folders, since a file that is moved away and put back, or is not there yet, cannot be watched
 * itself. Asks for a look whenever one may have changed, rather too often than too seldom: whoever looks compares with
 * what was seen before.
 */
export class FileWatcher {
  readonly #watcher: FSWatcher;
  readonly #look: () => Promise<void>;
  #files: readonly string[] = [];
  #names: ReadonlySet<string> = new Set();
  #folders: ReadonlySet<string> = new Set();
  #isBusy = false;
  #isDirty = false;
  #wake: () => void = () => {};

  /** `look` is never called again before it has resolved. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
    this.#watcher = watch([], { ignoreInitial: true, depth: 0 });
    this.#watcher.on("all", (event, path) => {
      if (event !== "change" || this.#files.includes(path)) void this.#changed();
    });
    // The library holds changes of a file back for 50 ms after one, and then they are gone: what the system tells is heard as well.
    this.#watcher.on("raw", (_event, path) => {
      // Some systems do not name the file.
      if (typeof path !== "string" || this.#names.has(basename(path))) void this.#changed();
    });
  }

  /** Watches exactly these files from now on. */
  watch(files: readonly string[]): void {
    this.#files = files;
    this.#names = new Set(files.map((file) => basename(file)));
    const folders = new Set(files.map(dirname));
    const gone = [...this.#folders].filter((folder) => !folders.has(folder));
    const added = [...folders].filter((folder) => !this.#folders.has(folder));
    this.#folders = folders;
    if (gone.length > 0) this.#watcher.unwatch(gone);
    if (added.length === 0) return;
    this.#watcher.add(added);
    for (const after of AFTER_ADDING_MS) this.lookAgain(after);
  }

  /** Looks once more after this time, whatever the disk says. */
  lookAgain(afterMs: number): void {
    setTimeout(() => void this.#changed(), afterMs).unref();
  }

  async close(): Promise<void> {
    await this.#watcher.close();
  }

  async #changed(): Promise<void> {
    this.#isDirty = true;
    this.#wake();
    if (this.#isBusy || this.#watcher.closed) return;
    this.#isBusy = true;
    while (this.#isDirty && !this.#watcher.closed) {
      this.#isDirty = false;
      await this.#look();
      await this.#untilNextOr(SECOND_LOOK_MS);
      if (!this.#isDirty && !this.#watcher.closed) await this.#look();
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
