/** Packages look at folders above the component's own, which it may not read: `realpath` with a callback, and code that copies folders. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, resolve } from "node:path";
import { textOf, wrap } from "./file-functions.ts";

/** Parent folders look like the component's own, which reveals only that they are folders. */
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
