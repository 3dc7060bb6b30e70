import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../domain/errors.ts";
import { isRecord } from "../domain/json.ts";
import { holdsCompiler } from "../domain/package-files.ts";
import type { Log } from "../ports/log.ts";
import { readInstalledList } from "./installed-tree.ts";
import { partialName, removeLeft } from "./partial-folders.ts";
import { isThere } from "../system/is-there.ts";

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
    if (await isThere(folder)) await removeLeft(folder, settings.log);
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
      const names = Object.values(list).flatMap((entry) => (isRecord(entry) && typeof entry["name"] === "string" ? [entry["name"]] : []));
      const isLean = !holdsCompiler([...Object.keys(list), ...names]);
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

  /** A server that installs nothing loads nothing for it. */
  async #sharePackage(own: string, { checksum, isLean }: { checksum: string; isLean: boolean }): Promise<void> {
    const { folder, randomText } = this.#settings;
    const shared = join(folder, SHARED, createHash("sha256").update(checksum).digest("hex").slice(0, 32));
    const { sharePackage } = await import("./share-package.ts");
    await sharePackage(own, { shared, partial: join(folder, SHARED, partialName(randomText())), isLean });
  }
}
