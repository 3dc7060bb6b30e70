import { type FSWatcher, watch } from "chokidar";
import { realpathSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A save truncates the file and then writes it. The event of the write may be lost, so every look is repeated after this time. */
const SECOND_LOOK_MS = 20;
/** A file may be saved while its watch is being set up. New paths are looked at again after these times. */
const AFTER_ADDING_MS = [30, 150, 500];
/** Network disks and folders that were replaced send no events. Their files are compared this often. */
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
  #isBusy = false;
  #isDirty = false;
  #isClosed = false;
  #wake: () => void = () => {};

  /** `look` is never called again before it has resolved. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  /** Watches these files and `moreFolders` from now on, in place of those before. Files may be missing. */
  watch(files: readonly string[], moreFolders: readonly string[] = []): void {
    if (this.#isClosed) return;
    if (isSameList(files, this.#files) && isSameList(moreFolders, this.#moreFolders)) return;
    this.#files = files;
    this.#moreFolders = moreFolders;
    this.#watch();
    for (const after of AFTER_ADDING_MS) this.lookAgain(after);
  }

  /** Calls `look` after this time, whether or not a file has changed. */
  lookAgain(afterMs: number): void {
    setTimeout(() => void this.#changed(), afterMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) void watcher.close();
  }

  /** Two watchers: one for the events of the disk, one that polls. */
  #watch(): void {
    for (const watcher of this.#watchers) void watcher.close();
    // An editor writes through a symbolic link.
    const places = [...this.#files, ...this.#files.map(realPathOf)];
    const folders = new Set([...places.map((place) => dirname(place)), ...this.#moreFolders]);
    const names = new Set(places.map((place) => basename(place)));
    // chokidar waits for a missing folder by watching the folders above it.
    const isFolder = (path: string): boolean => [...folders].some((folder) => `${folder}${sep}`.startsWith(`${path}${sep}`));
    const ignored = (path: string): boolean => !isFolder(path) && !names.has(basename(path)) && !this.#moreFolders.includes(dirname(path));
    const options = { ignored, ignoreInitial: true, atomic: false, depth: 0 };
    const events = watch([...folders], options);
    const polls = watch([...folders], { ...options, usePolling: true, interval: POLL_MS, binaryInterval: POLL_MS });
    let lastEventAt = 0;
    events.on("raw", () => {
      lastEventAt = performance.now();
      void this.#changed();
    });
    polls.on("all", () => {
      void this.#changed();
      // The event watcher has missed it: its folder may have been replaced.
      if (performance.now() - lastEventAt > 2 * POLL_MS && this.#watchers.includes(polls)) this.#watch();
    });
    for (const watcher of [events, polls]) {
      watcher.on("error", () => {});
      watcher.on("unlinkDir", (path) => {
        if (folders.has(path) && this.#watchers.includes(watcher)) this.#watch();
      });
    }
    this.#watchers = [events, polls];
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
