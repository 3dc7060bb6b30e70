import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";

/** Editors truncate a file, then write it: what is read in between is looked at again after this time. */
const SETTLE_MS = 20;

/**
 * Watches single files and calls back when their contents have changed. A save is a truncation and a write, and the
 * second event may be lost: so after each change the contents are compared once more, and an empty file is not
 * taken for a save until it stays empty.
 */
export class FileWatcher {
  readonly #watcher: FSWatcher;
  readonly #onChange: () => Promise<void>;
  #files: readonly string[] = [];
  #contents = "";
  #isBusy = false;
  #isDirty = false;

  constructor(onChange: () => Promise<void>) {
    this.#onChange = onChange;
    this.#watcher = watch([], { ignoreInitial: true });
    this.#watcher.on("all", () => void this.#changed());
  }

  /** Watches exactly these files from now on; they count as seen as they are. */
  async watch(files: readonly string[]): Promise<void> {
    this.#watcher.unwatch(this.#files.filter((file) => !files.includes(file)));
    this.#watcher.add(files.filter((file) => !this.#files.includes(file)));
    this.#files = files;
    this.#contents = await this.#read();
  }

  async close(): Promise<void> {
    await this.#watcher.close();
  }

  async #changed(): Promise<void> {
    this.#isDirty = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#isDirty) {
      this.#isDirty = false;
      await this.#look();
      await sleep(SETTLE_MS);
      if (!this.#isDirty) await this.#look();
    }
    this.#isBusy = false;
  }

  async #look(): Promise<void> {
    let contents = await this.#read();
    for (let tries = 0; contents.includes("\0\0") && tries < 10; tries++) {
      await sleep(SETTLE_MS / 4);
      contents = await this.#read();
    }
    if (contents === this.#contents) return;
    this.#contents = contents;
    await this.#onChange();
  }

  /** All contents in one text; an empty or missing file shows as two marks in a row. */
  async #read(): Promise<string> {
    const texts = await Promise.all(this.#files.map((file) => readFile(file, "utf8").catch(() => "")));
    return `\0${texts.join("\0")}\0`;
  }
}
