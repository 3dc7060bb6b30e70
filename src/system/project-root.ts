import { realpathSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { PdError } from "../domain/errors.ts";

/**
 * The folder whose files may be sent to a server. Code that somebody else wrote names files by its imports and its
 * links, and without this rule it could name the user's own, such as `~/.ssh/id_rsa`.
 */
export class ProjectRoot {
  /** A real path, without links. */
  readonly folder: string;

  /**
   * Of a file or folder as the user has named it: the top folder of its Git repository, else the nearest folder with a
   * package.json, else the folder that it is in. The home of the user, and what is above that, is never a project.
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

  /** A folder that is known to be one project, such as a registry. */
  static async at(folder: string): Promise<ProjectRoot> {
    return new ProjectRoot(await realpath(folder));
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The real path of a file or folder of the project. Throws PD_BAD_INPUT when it is outside, and the system's error when it is not there. */
  async place(path: string): Promise<string> {
    return this.#checked(path, await realpath(path));
  }

  /** The same, at once. */
  placeNow(path: string): string {
    return this.#checked(path, realpathSync(path));
  }

  #checked(path: string, place: string): string {
    const inside = relative(this.folder, place);
    const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
    // The settings of a repository may hold the password of its remote.
    if (!isOutside && !inside.split(sep).includes(".git")) return place;
    const what = place === resolve(path) ? path : `${path}, which is ${place}`;
    const reason = isOutside ? `is outside of the project ${this.folder}` : "belongs to Git";
    throw new PdError("PD_BAD_INPUT", `Cannot read ${what}: it ${reason}`, {
      details: { path, place, root: this.folder },
      fix: "A project is a Git repository, or a folder with a package.json: move the file into it, or make one project of both folders",
    });
  }
}

/** The nearest folder, from `start` upwards, that holds such a file or folder. The home of the user and `/` are no projects. */
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
