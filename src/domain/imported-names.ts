import type { ComponentCode } from "./saved-component.ts";

/** What stands where a module is named: `from "x"`, `import "x"`, `import("x")`, `require("x")`. */
const NAMED = /\b(?:from|import|require)\s*\(?\s*(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g;

/**
 * All that may be the name of a module in the files of a component, as one text: while it is the same, the same files
 * and packages are imported. It may also hold what is none, as in a comment; it never leaves one out that a compiler would follow.
 */
export function importedNames({ path, text, files }: Pick<ComponentCode, "path" | "text" | "files">): string {
  const all = [[path, text] as const, ...Object.entries(files)];
  return JSON.stringify(all.map(([name, content]) => [name, ...[...content.matchAll(NAMED)].map(([, , imported = ""]) => imported)]));
}
