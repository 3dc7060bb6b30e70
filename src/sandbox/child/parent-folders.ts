/**
 * A component may read nothing above its own folder. Packages look at what lies above on the way to a path of their own: the
 * `realpath` with a callback does, and whoever copies folders. They learn that these are folders, as they could tell anyway.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, resolve } from "node:path";
import { textOf, wrap } from "./file-functions.ts";

/** `stat` and its like tell of each folder above the own one what they tell of that. */
export function showParents(): void {
  const own = process.cwd();
  const parents = new Set(foldersAbove(own));
  const shown = ([path, ...rest]: readonly unknown[]): unknown[] => {
    const text = textOf(path);
    return [text !== undefined && parents.has(resolve(text)) ? own : path, ...rest];
  };
  for (const name of ["stat", "lstat"] as const) {
    fs[name] = wrap(fs[name], shown);
    fs.promises[name] = wrap(fs.promises[name], shown);
  }
  Object.assign(fs, { statSync: wrap(fs.statSync, shown), lstatSync: wrap(fs.lstatSync, shown) });
  syncBuiltinESMExports();
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}
