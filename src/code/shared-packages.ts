import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../domain/errors.ts";
import { isRecord } from "../domain/text/json.ts";
import { holdsCompiler } from "../domain/component/package-files.ts";
import type { Log } from "../ports/log.ts";
import { readInstalledList } from "./installed-tree.ts";
import { partialName, removeLeft } from "./partial-folders.ts";
import { isThere } from "../system/home/is-there.ts";

const SHARED = ".shared";
/** The set is shared and has no files for editors. */
const MARK = ".lean";
/** Linking does not work here at all. */
const NOT_HERE = new Set(["EPERM", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EROFS", "ENOSPC"]);

interface Settings {
  readonly folder: string;
  readonly log: Log;
  /** The next server continues. */
  readonly signal: AbortSignal;
  readonly randomText: () => string;
}

/**
 * Hard-links files that package sets have in common, and removes files for editors, which are two thirds of googleapis.
 * npm's checksum identifies a package, so no script may have changed it. Sets may be in use, so each file is replaced
 * atomically. Several processes may do this at once, and each may be killed at any point.
 */
export class SharedPackages {
  readonly #settings: Settings;
  /** One set at a time. */
  #last: Promise<void> = Promise.resolve();
  #isPossible = true;

  static async open(settings: Settings): Promise<SharedPackages> {
    const folder = join(settings.folder, SHARED);
    if (await isThere(folder)) await removeLeft(folder, settings.log);
    return new SharedPackages(settings);
  }

  private constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Resolves soon after the signal aborts. */
  async finished(): Promise<void> {
    await this.#last;
  }

  add(set: string): Promise<void> {
    this.#last = this.#last.then(() => this.#share(set));
    return this.#last;
  }

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
      this.#settings.log.warn("could not share the common files of packages: they use more disk space", { set, reason: messageOf(error) });
    }
  }

  #canGoOn(): boolean {
    return this.#isPossible && !this.#settings.signal.aborted;
  }

  /** Most servers install nothing, so this is imported late. */
  async #sharePackage(own: string, { checksum, isLean }: { checksum: string; isLean: boolean }): Promise<void> {
    const { folder, randomText } = this.#settings;
    const shared = join(folder, SHARED, createHash("sha256").update(checksum).digest("hex").slice(0, 32));
    const { sharePackage } = await import("./share-package.ts");
    await sharePackage(own, { shared, partial: join(folder, SHARED, partialName(randomText())), isLean });
  }
}
