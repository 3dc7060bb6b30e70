import { type FSWatcher, watch } from "chokidar";
import { type Stats, realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A save truncates the file and then writes it. The event of the write may be lost, so every look is repeated after this time. */
const SECOND_LOOK_MS = 20;
/** A file may be saved while its watch is being set up. New paths are looked at again after these times. */
const AFTER_ADDING_MS = [30, 150, 500];
/** Network disks send no events, so files are compared this often. chokidar can miss that a folder was replaced, so folders are compared as well. */
const POLL_MS = 1000;

/**
 * Calls `look` when a watched file may have changed. It calls too often rather than too seldom: the caller compares the
 * files with what it read before. chokidar watches the folders of the files, because a file that is missing or replaced
 * cannot be watched itself.
 */
export class FileWatcher {
  readonly #look: () => Promise<void>;
  #files: readonly string[] = [];
  #moreFolders: readonly string[] = [];
  #watchers: readonly FSWatcher[] = [];
  readonly #comparing: NodeJS.Timeout;
  #folders: readonly string[] = [];
  /** Identities of `#folders` when they were last watched. */
  #identities = "";
  #isBusy = false;
  #isDirty = false;
  #isClosed = false;
  #wake: () => void = () => {};

  /** `look` is never called again before it has resolved. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
    this.#comparing = setInterval(() => void this.#compareFolders(), POLL_MS);
  }

  /** Watches these files and `moreFolders` from now on, in place of those before. Files may be missing. */
  watch(files: readonly string[], moreFolders: readonly string[] = []): void {
    if (this.#isClosed) return;
    if (isSameList(files, this.#files) && isSameList(moreFolders, this.#moreFolders)) return;
    this.#files = files;
    this.#moreFolders = moreFolders;
    this.#watch();
  }

  /** Calls `look` after this time, whether or not a file has changed. */
  lookAgain(afterMs: number): void {
    setTimeout(() => void this.#changed(), afterMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#comparing);
    for (const watcher of this.#watchers) void watcher.close();
  }

  /** Two watchers: one for the events of the disk, one that polls. */
  #watch(): void {
    for (const watcher of this.#watchers) void watcher.close();
    // An editor writes through a symbolic link.
    const places = [...this.#files, ...this.#files.map(realPathOf)];
    const folders = new Set([...places.map((place) => dirname(place)), ...this.#moreFolders]);
    const names = new Set(places.map((place) => basename(place)));
    const ignored = (path: string): boolean => !folders.has(path) && !names.has(basename(path)) && !this.#moreFolders.includes(dirname(path));
    const options = { ignored, ignoreInitial: true, atomic: false, depth: 0 };
    this.#folders = [...folders];
    // Before chokidar looks, so that a folder that is replaced later differs.
    this.#identities = this.#folders.map((folder) => identityOf(statSync(folder, { throwIfNoEntry: false }))).join("\n");
    const events = watch([...folders], options);
    const polls = watch([...folders], { ...options, usePolling: true, interval: POLL_MS, binaryInterval: POLL_MS });
    events.on("raw", () => void this.#changed());
    polls.on("all", () => void this.#changed());
    for (const watcher of [events, polls]) watcher.on("error", () => {});
    this.#watchers = [events, polls];
    for (const after of AFTER_ADDING_MS) this.lookAgain(after);
  }

  /** Watches again when a folder has been replaced, or has come or gone. */
  async #compareFolders(): Promise<void> {
    const folders = this.#folders;
    const found = await Promise.all(folders.map((folder) => stat(folder).catch(() => undefined)));
    if (folders === this.#folders && !this.#isClosed && found.map(identityOf).join("\n") !== this.#identities) this.#watch();
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

  /** Resolves at the next change, or after `ms`. */
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

function identityOf(folder: Stats | undefined): string {
  return folder === undefined ? "" : `${folder.dev} ${folder.ino} ${folder.birthtimeMs}`;
}
