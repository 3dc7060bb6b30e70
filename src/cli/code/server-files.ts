import { readFile, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { isThere } from "../../system/home/is-there.ts";
import { makeFolder } from "../../system/home/make-folder.ts";

interface Writing {
  /** Replaces files with other content. */
  readonly isForced: boolean;
  /** Told when it may not replace them. */
  readonly fix: string;
}

/** Writes files whose names and texts come from a server. Throws PD_BAD_INPUT for one outside the folder, or with other content. */
export async function writeServerFiles(folder: string, files: Readonly<Record<string, string>>, { isForced, fix }: Writing): Promise<void> {
  const paths = Object.entries(files).map(([path, text]): [string, string] => [inside(folder, path), text]);
  const others = isForced ? [] : await differing(paths);
  if (others.length > 0)
    throw new PdError("PD_BAD_INPUT", `Cannot write ${others.map((path) => relative(process.cwd(), path)).join(", ")}: it exists with other content`, { fix });
  for (const [path, text] of paths) {
    await makeFolder(dirname(path));
    // A folder on the path may be a link.
    inside(await realpath(folder), join(await realpath(dirname(path)), basename(path)));
    // `wx` does not write through a link to a missing file.
    await writeFile(path, text, { flag: isForced || (await isThere(path)) ? "w" : "wx" });
  }
}

function inside(folder: string, path: string): string {
  const full = resolve(folder, path);
  if (full.startsWith(`${folder}${sep}`)) return full;
  throw new PdError("PD_BAD_INPUT", `Cannot write ${JSON.stringify(path)}: it is outside of ${folder}`);
}

async function differing(paths: readonly (readonly [string, string])[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(async ([path, text]) => ((await readFile(path, "utf8").catch(() => text)) === text ? [] : [path])));
  return found.flat();
}

/** Throws PD_BAD_INPUT for a hidden file, or one out of its folder. */
export function requirePlainPath(path: string): void {
  if (path.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.includes("\\"))) return;
  throw new PdError("PD_BAD_INPUT", `Cannot write ${JSON.stringify(path)}: the server's file name leads out of the folder, or is hidden`);
}
