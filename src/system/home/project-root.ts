import { realpathSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { PdError } from "../../domain/errors.ts";

/** Only files in this folder may be sent to a server. Security: imports and links in someone else's code could name private files, such as `~/.ssh/id_rsa`. */
export class ProjectRoot {
  /** Real path. */
  readonly folder: string;

  /**
   * The root of the Git repository, else the nearest folder with a package.json, else the named folder. The first two
   * never find the user's home or a folder above it.
   */
  static async of(named: string): Promise<ProjectRoot> {
    const path = resolve(named);
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const start = await realpath(isFolder ? path : dirname(path)).catch(() => (isFolder ? path : dirname(path)));
    return new ProjectRoot((await nearestWith(".git", start)) ?? (await nearestWith("package.json", start)) ?? start);
  }

  static async at(folder: string): Promise<ProjectRoot> {
    return new ProjectRoot(await realpath(folder));
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The real path. Throws PD_BAD_INPUT when it is outside the project or in `.git`. */
  async place(path: string): Promise<string> {
    return this.#checked(path, await realpath(path));
  }

  placeNow(path: string): string {
    return this.#checked(path, realpathSync(path));
  }

  #checked(path: string, place: string): string {
    const inside = relative(this.folder, place);
    const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
    // Git's settings may contain the remote's password.
    if (!isOutside && !inside.split(sep).includes(".git")) return place;
    const what = place === resolve(path) ? path : `${path}, which is ${place}`;
    const reason = isOutside ? `is outside of the project ${this.folder}` : "belongs to Git";
    throw new PdError("PD_BAD_INPUT", `Cannot read ${what}: it ${reason}`, {
      details: { path, place, root: this.folder },
      fix: "Move the file into the project, or make both folders one project. A project is a Git repository or a folder with a package.json",
    });
  }
}

async function nearestWith(name: string, start: string): Promise<string | undefined> {
  const home = await realpath(homedir()).catch(() => homedir());
  for (let folder = start; ; folder = dirname(folder)) {
    const isAboveHome = folder === home || home.startsWith(folder.endsWith(sep) ? folder : folder + sep);
    if (isAboveHome || dirname(folder) === folder) return undefined;
    const isThere = await stat(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return folder;
  }
}
